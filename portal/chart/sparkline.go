package chart

import (
	"fmt"
	"strings"
)

const (
	sparkWidth, sparkHeight = 120, 24 // which the template has, too
	maxSparks               = 60      // more counts are grouped
)

// Sparkline draws counts, the oldest first, as the path of a small plot.
func Sparkline(counts []int) string {
	size := max(1, (len(counts)+maxSparks-1)/maxSparks)
	var sums []int
	highest := 1
	for start := 0; start < len(counts); start += size {
		sum := 0
		for _, n := range counts[start:min(start+size, len(counts))] {
			sum += n
		}
		sums = append(sums, sum)
		highest = max(highest, sum)
	}
	var path strings.Builder
	step := float64(sparkWidth) / float64(max(1, len(sums)-1))
	for i, n := range sums {
		move := "L"
		if i == 0 {
			move = "M"
		}
		fmt.Fprintf(&path, "%s%.1f %.1f", move, float64(i)*step,
			float64(sparkHeight-2)-float64(n)/float64(highest)*(sparkHeight-4))
	}
	return path.String()
}
