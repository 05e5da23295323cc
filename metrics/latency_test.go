package metrics

import (
	"testing"

	"sluice"
)

// TestLatencies: minutes add up, and the quantiles of their sum are within the
// bounds of where the calls were counted.
func TestLatencies(t *testing.T) {
	count := func(milliseconds float64) *sluice.Minute {
		m := &sluice.Minute{Accepted: 1, Latencies: make([]int, len(latencyBounds))}
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
