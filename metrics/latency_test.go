package metrics

import (
	"testing"
	"time"

	"sluice"
)

// TestLatencies: minutes add up, and the quantiles of their sum are within the
// bounds of where the calls were counted.
func TestLatencies(t *testing.T) {
	count := func(milliseconds float64) *sluice.Minute {
		m := &sluice.Minute{CallFigures: sluice.CallFigures{Accepted: 1}, Latencies: make([]int, len(latencyBounds))}
		m.Latencies[latencyBound(milliseconds)]++
		return m
	}
	if q := quantile(nil, 0.5); q != 0 {
		t.Errorf("without calls the median is %v", q)
	}
	const minute = 60_000
	sum := &sluice.Minute{}
	for range 99 {
		addTo(sum, count(2))
	}
	addTo(sum, count(180*minute))
	if sum.Accepted != 100 {
		t.Errorf("%d calls were accepted", sum.Accepted)
	}
	for _, test := range []struct{ quantile, low, high float64 }{
		{0.5, 1, 2},
		{0.99, 1, 2},
		{1, minute, 3 * minute},
	} {
		if got := quantile(sum.Latencies, test.quantile); got < test.low || got > test.high {
			t.Errorf("the quantile %v is %v, want it from %v to %v", test.quantile, got, test.low, test.high)
		}
	}
}

// TestAddKeepsWhatIsStored: records are shared, so that adding must not change
// the lists of either side.
func TestAddKeepsWhatIsStored(t *testing.T) {
	stored := sluice.Minute{Latencies: []int{1}}
	sum := stored
	addTo(&sum, &sluice.Minute{Latencies: []int{1, 1}})
	if len(stored.Latencies) != 1 || stored.Latencies[0] != 1 {
		t.Errorf("the stored minute has become %v", stored.Latencies)
	}
}

// TestEveryCallHasOneState: accepted calls are the sum of their states, whatever was
// counted so far.
func TestEveryCallHasOneState(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Hour)
	for name, test := range map[string]struct {
		counted  sluice.CallFigures
		retrying int
		since    time.Time // when the oldest unfinished event came
		want     sluice.CallFigures
	}{
		"in progress":               {sluice.CallFigures{Accepted: 5, OK: 2}, 0, now, sluice.CallFigures{Accepted: 5, OK: 2, Processing: 3}},
		"tried again":               {sluice.CallFigures{Accepted: 5, OK: 2}, 2, now, sluice.CallFigures{Accepted: 5, OK: 2, Processing: 1, Retrying: 2}},
		"failed and recovered":      {sluice.CallFigures{Accepted: 5, OK: 2, Error: 1, Recovered: 2}, 0, now, sluice.CallFigures{Accepted: 5, OK: 2, Error: 1, Recovered: 2}},
		"ends before calls":         {sluice.CallFigures{Accepted: 1, OK: 2}, 1, now, sluice.CallFigures{Accepted: 2, OK: 2}},
		"ends lost in a crash":      {sluice.CallFigures{Accepted: 5, Error: 1}, 0, now.Add(2 * time.Hour), sluice.CallFigures{Accepted: 5, OK: 4, Error: 1}},
		"ends lost, some unwritten": {sluice.CallFigures{Accepted: 5, OK: 1}, 1, now.Add(2 * time.Hour), sluice.CallFigures{Accepted: 5, OK: 4, Retrying: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			sums := []sluice.Minute{{Time: now, CallFigures: test.counted, Webhooks: map[string]sluice.WebhookFigures{"webhook.a": {CallFigures: test.counted}}}}
			unfinished := sluice.Unfinished{Since: test.since}
			for range test.retrying {
				unfinished.Retrying = append(unfinished.Retrying, sluice.WaitingCall{EventKey: "webhook.a", Time: now.Add(time.Minute), Count: 1})
			}
			complete(sums, time.Hour, unfinished)
			if of := sums[0].Webhooks["webhook.a"].CallFigures; sums[0].CallFigures != test.want || of != test.want {
				t.Errorf("the figures are %+v, those of the webhook %+v, want %+v", sums[0].CallFigures, of, test.want)
			}
		})
	}
}
