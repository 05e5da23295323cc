package chart

import (
	"time"

	"sluice"
)

// MarkGaps marks the times in which no calls were taken.
func (p *Plot) MarkGaps(closings []sluice.Closing, sums []sluice.Minute, of Span) {
	begin, end := sums[0].Time, sums[len(sums)-1].Time.Add(of.period())
	const least = 2 // of the width, to be seen
	for _, c := range closings {
		if !c.From.Before(end) || !c.To.After(begin) {
			continue
		}
		at := func(t time.Time) float64 {
			share := float64(t.Sub(begin)) / float64(end.Sub(begin))
			return round(plotLeft + (plotWidth-plotLeft)*min(max(share, 0), 1))
		}
		x := min(at(c.From), plotWidth-least)
		p.Gaps = append(p.Gaps, plotBar{
			X: x, Y: plotTop, Width: max(round(at(c.To)-x), least), Height: plotHeight - plotTop - plotBottom,
		})
		for i := range p.Spots {
			if s := &p.Spots[i]; c.From.Before(s.To) && c.To.After(s.From) {
				s.Title += ", closed (" + c.Cause + ")"
			}
		}
	}
	if len(p.Gaps) > 0 {
		p.Legend = append(p.Legend, legend{"gap", "closed"})
		p.Summary += " No calls were taken at times."
	}
}
