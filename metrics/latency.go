package metrics

import (
	"math"
	"slices"
)

// trimmed returns counts without trailing zeros.
func trimmed(counts []int) []int {
	end := len(counts)
	for end > 0 && counts[end-1] == 0 {
		end--
	}
	return counts[:end]
}

// latencyBounds are the upper bounds of the counted latencies in milliseconds, each about 1.4
// times the one before. Longer latencies count with the last.
var latencyBounds = func() (bounds []float64) {
	const first, last = 0.25, 2 * 60_000
	for bound := first; bound < last; bound *= 2 {
		bounds = append(bounds, bound, bound*1.414)
	}
	return bounds
}()

// latencyBound returns the index of the bound for a duration.
func latencyBound(milliseconds float64) int {
	i, _ := slices.BinarySearch(latencyBounds, milliseconds)
	return min(i, len(latencyBounds)-1)
}

// quantile returns roughly how many milliseconds a share q of the calls took at most. It is 0
// if there were none.
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
