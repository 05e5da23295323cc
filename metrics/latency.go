package metrics

import (
	"math"
	"slices"
)

// latencyBounds are the upper bounds of the latencies that a minute counts, in
// milliseconds: each is about 1.4 times the one before. Longer ones count with
// the last.
var latencyBounds = func() (bounds []float64) {
	const first, last = 0.25, 2 * 60_000
	for bound := first; bound < last; bound *= 2 {
		bounds = append(bounds, bound, bound*1.414)
	}
	return bounds
}()

// latencyBound returns the place of a duration among the bounds.
func latencyBound(milliseconds float64) int {
	i, _ := slices.BinarySearch(latencyBounds, milliseconds)
	return min(i, len(latencyBounds)-1)
}

// quantile returns roughly how many milliseconds calls took at most, without
// the slowest: with 0.99, without the slowest hundredth. It is 0 if there were
// none.
func quantile(latencies []int, q float64) float64 {
	total := 0
	for _, n := range latencies {
		total += n
	}
	rank := q * float64(total)
	below := 0.0
	for i, n := range latencies {
		if n == 0 || below+float64(n) < rank {
			below += float64(n)
			continue
		}
		low := 0.0
		if i > 0 {
			low = latencyBounds[i-1]
		}
		share := (rank - below) / float64(n)
		return math.Round((low+share*(latencyBounds[i]-low))*1000) / 1000
	}
	return 0
}
