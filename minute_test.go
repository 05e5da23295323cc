package sluice_test

import (
	"testing"
	"time"

	"sluice"
)

// TestMinute: minutes add up, and the quantiles of their sum are within the
// bounds of where the calls were counted.
func TestMinute(t *testing.T) {
	count := func(durations ...time.Duration) *sluice.Minute {
		m := &sluice.Minute{Accepted: len(durations), Latencies: make([]int, len(sluice.LatencyBounds))}
		for _, d := range durations {
			m.Latencies[sluice.LatencyBound(d)]++
		}
		return m
	}
	if q := new(sluice.Minute).Quantile(0.5); q != 0 {
		t.Errorf("without calls the median is %s", q)
	}
	sum := &sluice.Minute{}
	for range 99 {
		sum.Add(count(2 * time.Millisecond))
	}
	sum.Add(&sluice.Minute{Accepted: 1, Latencies: count(3 * time.Hour).Latencies})
	if sum.Accepted != 100 {
		t.Errorf("%d calls were accepted", sum.Accepted)
	}
	for _, test := range []struct {
		quantile  float64
		low, high time.Duration
	}{
		{0.5, time.Millisecond, 2 * time.Millisecond},
		{0.99, time.Millisecond, 2 * time.Millisecond},
		{1, time.Minute, 3 * time.Minute},
	} {
		if got := sum.Quantile(test.quantile); got < test.low || got > test.high {
			t.Errorf("the quantile %v is %s, want it from %s to %s", test.quantile, got, test.low, test.high)
		}
	}
}

// TestAddKeepsWhatIsStored: records are shared, so that adding must not change
// the lists of either side.
func TestAddKeepsWhatIsStored(t *testing.T) {
	stored := sluice.Minute{Latencies: []int{1}}
	sum := stored
	sum.Add(&sluice.Minute{Latencies: []int{1, 1}})
	if len(stored.Latencies) != 1 || stored.Latencies[0] != 1 {
		t.Errorf("the stored minute has become %v", stored.Latencies)
	}
}
