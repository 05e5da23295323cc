package portal

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"sluice"
)

// A plot is a picture of the last minutes, as SVG.
type plot struct {
	Title         string
	Width, Height int
	Left, Right   int // ends of the x axis
	Bars          []plotBar
	Lines         []plotLine
	X, Y          []tick
	Legend        []legend
	Summary       string // the same in words
	Empty         string // text if there is nothing to see
}

// A plotBar is one of the bars that stand on each other.
type plotBar struct {
	X, Y, Width, Height float64
	Class               string
}

// A plotLine is a curve, in pieces where there are gaps, and dots where a piece
// is a single point.
type plotLine struct {
	Path, Class string
	Dots        []plotDot
}

type plotDot struct {
	X, Y  float64
	Class string
}

type legend struct{ Class, Name string }

const (
	plotWidth  = 480
	plotHeight = 200
	plotLeft   = 48
	plotTop    = 8
	plotBottom = 24
	maxBars    = 120 // more minutes are put together
)

func newPlot(title string) *plot {
	return &plot{Title: title, Width: plotWidth, Height: plotHeight, Left: plotLeft, Right: plotWidth}
}

// callPlot shows the calls a minute, by what became of them.
func callPlot(minutes []sluice.Minute) *plot {
	p := newPlot("Calls a minute")
	p.Legend = []legend{{"accepted", "accepted"}, {"refused", "refused (the caller’s mistake)"}, {"failed", "failed (ours)"}}
	groups := grouped(minutes)
	highest := 0.0
	for _, g := range groups {
		highest = max(highest, g.accepted+g.refused+g.failed)
	}
	if highest == 0 {
		p.Empty = "No calls in this time."
	}
	top := p.yAxis(highest, func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) })
	width := float64(plotWidth-plotLeft) / float64(len(groups))
	for i, g := range groups {
		base := float64(plotHeight - plotBottom)
		for _, part := range []struct {
			class string
			value float64
		}{{"bar-accepted", g.accepted}, {"bar-refused", g.refused}, {"bar-failed", g.failed}} {
			if part.value == 0 {
				continue
			}
			height := max(part.value/top*(plotHeight-plotTop-plotBottom), 1)
			base -= height
			p.Bars = append(p.Bars, plotBar{round(plotLeft + float64(i)*width + width*.1), round(base), round(width * .8), round(height), part.class})
		}
	}
	p.xAxis(minutes)
	p.Summary = fmt.Sprintf("Calls a minute, at most %s.", strconv.FormatFloat(highest, 'f', 1, 64))
	return p
}

// latencyPlot shows how long accepted calls took.
func latencyPlot(minutes []sluice.Minute) *plot {
	p := newPlot("Time to accept a call")
	p.Legend = []legend{{"p50", "half of the calls (p50)"}, {"p99", "all but the slowest hundredth (p99)"}}
	groups := grouped(minutes)
	highest := 0.0
	for _, g := range groups {
		highest = max(highest, g.p99)
	}
	if highest == 0 {
		p.Empty = "No calls were accepted in this time."
	}
	top := p.yAxis(highest, shownMillis)
	p.curve(groups, top, "p99", func(g group) float64 { return g.p99 })
	p.curve(groups, top, "p50", func(g group) float64 { return g.p50 })
	p.xAxis(minutes)
	p.Summary = "Time to accept a call, p99 at most " + shownMillis(highest) + "."
	return p
}

// A group is some minutes put together, each value for one minute.
type group struct{ accepted, refused, failed, p50, p99 float64 }

// grouped puts minutes together, so that there are not too many. Of latencies
// the worst counts.
func grouped(minutes []sluice.Minute) []group {
	size := (len(minutes) + maxBars - 1) / maxBars
	groups := make([]group, 0, maxBars)
	for start := 0; start < len(minutes); start += size {
		var g group
		part := minutes[start:min(start+size, len(minutes))]
		for _, m := range part {
			g.accepted += float64(m.Accepted)
			g.refused += float64(m.Refused)
			g.failed += float64(m.Failed)
			g.p50, g.p99 = max(g.p50, m.P50), max(g.p99, m.P99)
		}
		g.accepted /= float64(len(part))
		g.refused /= float64(len(part))
		g.failed /= float64(len(part))
		groups = append(groups, g)
	}
	return groups
}

// curve draws a line through the groups that have calls.
func (p *plot) curve(groups []group, top float64, name string, value func(group) float64) {
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

// yAxis marks round values up to the highest, and returns the value at the top.
func (p *plot) yAxis(highest float64, show func(float64) string) float64 {
	step := niceStep(highest / 4)
	top := max(step*math.Ceil(highest/step), step)
	for v := 0.0; v <= top+step/2; v += step {
		p.Y = append(p.Y, tick{round(plotHeight - plotBottom - v/top*(plotHeight-plotTop-plotBottom)), show(v)})
	}
	return top
}

// niceStep returns 1, 2 or 5 times a power of ten, at least as large.
func niceStep(least float64) float64 {
	if least <= 0 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(least)))
	for _, times := range []float64{1, 2, 5} {
		if power*times >= least {
			return power * times
		}
	}
	return power * 10
}

// xAxis marks times, in UTC.
func (p *plot) xAxis(minutes []sluice.Minute) {
	const marks = 4
	for i := range marks {
		at := len(minutes) * i / marks
		x := plotLeft + float64(plotWidth-plotLeft)*float64(at)/float64(len(minutes))
		p.X = append(p.X, tick{round(x), minutes[at].Time.UTC().Format("15:04")})
	}
}

func shownMillis(ms float64) string {
	if ms >= 1000 {
		return strconv.FormatFloat(ms/1000, 'f', -1, 64) + " s"
	}
	return strconv.FormatFloat(math.Round(ms*1000)/1000, 'f', -1, 64) + " ms"
}

func round(v float64) float64 { return math.Round(v*10) / 10 }
