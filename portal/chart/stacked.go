package chart

import (
	"fmt"
	"strconv"
	"strings"

	"sluice"
	"sluice/wording"
)

// Calls shows what became of calls.
func Calls(sums []sluice.Minute, of Span) *Plot {
	return stackedPlot("Calls", sums, of, []legend{
		{"accepted", "went well"}, {"open", "in progress"}, {"retried", "being retried"}, {"failed", "failed"},
		{"rejected", "rejected"},
	},
		func(g group) []int { return []int{g.well, g.open, g.retried, g.failed, g.rejected} })
}

// Runs shows how often a pipeline ran.
func Runs(sums []sluice.Minute, of Span) *Plot {
	return stackedPlot("Runs", sums, of, []legend{{"accepted", "went well"}, {"failed", "failed"}},
		func(g group) []int { return []int{g.well, g.failed} })
}

// stackedPlot shows counts on top of each other, those of each class in the order of the
// legend.
func stackedPlot(what string, sums []sluice.Minute, of Span, classes []legend, countsOf func(group) []int) *Plot {
	p := &Plot{Title: what + " a minute", Legend: classes}
	if of.Hours > 0 {
		p.Title = what + " an hour"
	}
	groups := grouped(sums, of.period())
	highest := 0.0
	for _, g := range groups {
		sum := 0
		for _, count := range countsOf(g) {
			sum += count
		}
		highest = max(highest, g.mean(sum))
	}
	if highest == 0 {
		p.Empty = "No " + strings.ToLower(what) + " in this time."
	}
	top := p.yAxis(highest, 1, func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) })
	width := float64(plotWidth-plotLeft) / float64(len(groups))
	for i, g := range groups {
		base := float64(plotHeight - plotBottom)
		var said []string
		for class, count := range countsOf(g) {
			said = append(said, wording.Count(count)+" "+classes[class].Name)
			if count == 0 {
				continue
			}
			height := max(g.mean(count)/top*(plotHeight-plotTop-plotBottom), 1)
			base -= height
			p.Bars = append(p.Bars, plotBar{
				round(plotLeft + float64(i)*width + width*.1), round(base), round(width * .8), round(height), "bar-" +
					classes[class].Class,
			})
		}
		p.spot(i, len(groups), g, strings.Join(said, ", "))
	}
	p.xAxis(sums, of)
	p.Summary = fmt.Sprintf("%s, at most %s.", p.Title, strconv.FormatFloat(highest, 'f', 1, 64))
	return p
}
