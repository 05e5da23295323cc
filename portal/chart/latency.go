package chart

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"sluice"
)

// Latency shows how long it took to store calls.
func Latency(sums []sluice.Minute, of Span) *Plot {
	p := &Plot{Title: "Time to stable storage", Legend: []legend{{"p50", "median"}, {"p99", "slowest 1 %"}}}
	groups := grouped(sums, of.period())
	highest := 0.0
	for _, g := range groups {
		highest = max(highest, g.p99)
	}
	if highest == 0 {
		p.Empty = "No calls were accepted in this time."
	}
	top := p.yAxis(highest, 0, millis)
	p.curve(groups, top, "p99", func(g group) float64 { return g.p99 })
	p.curve(groups, top, "p50", func(g group) float64 { return g.p50 })
	for i, g := range groups {
		if g.p99 > 0 {
			p.spot(i, len(groups), g, fmt.Sprintf("median %s, slowest 1 %% from %s", millis(g.p50), millis(g.p99)))
		}
	}
	p.xAxis(sums, of)
	p.Summary = "Time to stable storage, slowest 1 % at most " + millis(highest) + "."
	return p
}

// curve adds a line through the groups that have a value.
func (p *Plot) curve(groups []group, top float64, name string, value func(group) float64) {
	line := plotLine{Class: "line-" + name}
	var path strings.Builder
	step := float64(plotWidth-plotLeft) / float64(len(groups))
	has := func(i int) bool { return i >= 0 && i < len(groups) && value(groups[i]) > 0 }
	for i, g := range groups {
		x, y := plotLeft+(float64(i)+.5)*step, plotHeight-plotBottom-value(g)/top*(plotHeight-plotTop-plotBottom)
		switch {
		case !has(i):
		case has(i - 1):
			fmt.Fprintf(&path, "L%.1f %.1f", x, y)
		case has(i + 1):
			fmt.Fprintf(&path, "M%.1f %.1f", x, y)
		default:
			line.Dots = append(line.Dots, plotDot{round(x), round(y), "dot-" + name})
		}
	}
	line.Path = path.String()
	p.Lines = append(p.Lines, line)
}

func millis(ms float64) string {
	if ms >= 1000 {
		return strconv.FormatFloat(ms/1000, 'f', -1, 64) + " s"
	}
	return strconv.FormatFloat(math.Round(ms*1000)/1000, 'f', -1, 64) + " ms"
}
