package chart

import (
	"time"

	"sluice"
)

// A group is several sums in one bar.
type group struct {
	well, open, retried, failed, rejected int
	sums                                  float64 // how many there are
	p50, p99                              float64 // the worst of the sums
	from, to                              time.Time
}

// mean returns the average of a count over the sums.
func (g group) mean(count int) float64 { return float64(count) / g.sums }

// grouped puts sums in at most maxBars groups.
func grouped(sums []sluice.Minute, period time.Duration) []group {
	size := (len(sums) + maxBars - 1) / maxBars
	groups := make([]group, 0, maxBars)
	for start := 0; start < len(sums); start += size {
		part := sums[start:min(start+size, len(sums))]
		g := group{sums: float64(len(part)), from: part[0].Time.UTC(), to: part[len(part)-1].Time.UTC().Add(period)}
		for _, m := range part {
			g.well += m.Well()
			g.open += m.Processing
			g.retried += m.Retrying
			g.failed += m.Error
			g.rejected += m.Rejected
			g.p50, g.p99 = max(g.p50, m.P50), max(g.p99, m.P99)
		}
		groups = append(groups, g)
	}
	return groups
}
