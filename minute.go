package sluice

import (
	"slices"
	"time"
)

// A Minute sums up the calls and runs of one minute, over all nodes.
type Minute struct {
	Start     time.Time `json:"start"`
	Accepted  int       `json:"accepted"`            // calls that became events
	Refused   int       `json:"refused"`             // calls that were the caller's mistake
	Failed    int       `json:"failed"`              // calls that we could not take
	Runs      int       `json:"runs"`                // runs of pipelines
	RunErrors int       `json:"runErrors"`           // those of them that failed
	Latencies []int     `json:"latencies,omitempty"` // accepted calls, by LatencyBounds; zeros at the end are left out
}

// LatencyBounds are the upper bounds of the counts in Latencies: each is about
// 1.4 times the one before. What took longer than the last counts there.
var LatencyBounds = func() []time.Duration {
	var bounds []time.Duration
	for bound := 250 * time.Microsecond; bound < 2*time.Minute; bound *= 2 {
		bounds = append(bounds, bound, bound*1414/1000)
	}
	return bounds
}()

// LatencyBound gives the place of a duration among the LatencyBounds.
func LatencyBound(d time.Duration) int {
	i, _ := slices.BinarySearch(LatencyBounds, d)
	return min(i, len(LatencyBounds)-1)
}

// Add adds the counts of another minute.
func (m *Minute) Add(other *Minute) {
	m.Accepted += other.Accepted
	m.Refused += other.Refused
	m.Failed += other.Failed
	m.Runs += other.Runs
	m.RunErrors += other.RunErrors
	sum := make([]int, max(len(m.Latencies), len(other.Latencies)))
	copy(sum, m.Latencies) // what is stored must not change
	for i, n := range other.Latencies {
		sum[i] += n
	}
	m.Latencies = sum
}

// Quantile gives about how long calls took at most, all but the slowest: with
// 0.99, all but the slowest hundredth. 0 if there were none.
func (m *Minute) Quantile(q float64) time.Duration {
	total := 0
	for _, n := range m.Latencies {
		total += n
	}
	rank := q * float64(total)
	below := 0.0
	for i, n := range m.Latencies {
		if n == 0 || below+float64(n) < rank {
			below += float64(n)
			continue
		}
		low := time.Duration(0)
		if i > 0 {
			low = LatencyBounds[i-1]
		}
		share := (rank - below) / float64(n)
		return low + time.Duration(share*float64(LatencyBounds[i]-low))
	}
	return 0
}
