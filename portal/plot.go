package portal

import (
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"sluice"
	"sluice/wording"
)

// A plot is an SVG picture of figures over time.
type plot struct {
	Title         string
	Width, Height int
	Left, Right   int // of the x axis
	Bars          []plotBar
	Spots         []plotSpot
	Lines         []plotLine
	Gaps          []plotBar // times in which no calls were taken
	X, Y          []tick
	Legend        []legend
	Summary       string // for people who don't see it
	Empty         string // shown if there are no values
}

// A plotBar is one of several stacked bars.
type plotBar struct {
	X, Y, Width, Height float64
	Class               string
}

// A plotSpot is a span of time with a tooltip, and a link to its calls.
type plotSpot struct {
	X, Width float64
	From, To time.Time
	Title    string // the tooltip
	Link     string // path; "" if the user may not see calls
}

// A plotLine is a curve that may have gaps. A point between two gaps is a dot.
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
	plotLeft   = 54
	plotTop    = 8
	plotBottom = 24
	maxBars    = 120 // more sums are grouped
)

func newPlot(title string) *plot {
	return &plot{Title: title, Width: plotWidth, Height: plotHeight, Left: plotLeft, Right: plotWidth}
}

// callPlot shows what became of calls.
func callPlot(sums []sluice.Minute, of span) *plot {
	return stackedPlot("Calls", sums, of, []legend{{"accepted", "went well"}, {"open", "in progress"}, {"failed", "failed"}, {"rejected", "rejected"}},
		func(g group) []int { return []int{g.well, g.open, g.failed, g.rejected} })
}

// runPlot shows how often a pipeline ran.
func runPlot(sums []sluice.Minute, of span) *plot {
	return stackedPlot("Runs", sums, of, []legend{{"accepted", "went well"}, {"failed", "failed"}},
		func(g group) []int { return []int{g.well, g.failed} })
}

// stackedPlot shows counts on top of each other, those of each class in the order of the
// legend.
func stackedPlot(what string, sums []sluice.Minute, of span, classes []legend, countsOf func(group) []int) *plot {
	p := newPlot(what + " a minute")
	if of.hours > 0 {
		p.Title = what + " an hour"
	}
	p.Legend = classes
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
	top := p.yAxis(highest, func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) })
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
			p.Bars = append(p.Bars, plotBar{round(plotLeft + float64(i)*width + width*.1), round(base), round(width * .8), round(height), "bar-" + classes[class].Class})
		}
		p.spot(i, len(groups), g, strings.Join(said, ", "))
	}
	p.xAxis(sums, of)
	p.Summary = fmt.Sprintf("%s, at most %s.", p.Title, strconv.FormatFloat(highest, 'f', 1, 64))
	return p
}

// latencyPlot shows how long it took to store calls.
func latencyPlot(sums []sluice.Minute, of span) *plot {
	p := newPlot("Time to stable storage")
	p.Legend = []legend{{"p50", "median"}, {"p99", "slowest 1 %"}}
	groups := grouped(sums, of.period())
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
	for i, g := range groups {
		if g.p99 > 0 {
			p.spot(i, len(groups), g, fmt.Sprintf("median %s, slowest 1 %% from %s", shownMillis(g.p50), shownMillis(g.p99)))
		}
	}
	p.xAxis(sums, of)
	p.Summary = "Time to stable storage, slowest 1 % at most " + shownMillis(highest) + "."
	return p
}

func (p *plot) spot(i, of int, g group, text string) {
	width := float64(plotWidth-plotLeft) / float64(of)
	layout := "15:04"
	if time.Since(g.from) > 24*time.Hour {
		layout = "2 Jan 15:04"
	}
	p.Spots = append(p.Spots, plotSpot{
		X: round(plotLeft + float64(i)*width), Width: round(width), From: g.from, To: g.to,
		Title: g.from.Format(layout) + " to " + g.to.Format("15:04") + " UTC: " + text,
	})
}

// link links the spots to their calls, which a path with a query lists.
func (p *plot) link(calls string) {
	const layout = "2006-01-02T15:04:05"
	for i := range p.Spots {
		s := &p.Spots[i]
		s.Link = calls + "from=" + url.QueryEscape(s.From.Format(layout)) + "&to=" + url.QueryEscape(s.To.Format(layout))
	}
}

// gaps marks the times in which no calls were taken.
func (p *plot) gaps(closings []sluice.Closing, sums []sluice.Minute, of span) {
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
		p.Gaps = append(p.Gaps, plotBar{x, plotTop, max(round(at(c.To)-x), least), plotHeight - plotTop - plotBottom, "gap"})
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

// A group is several sums in one bar.
type group struct {
	well, open, failed, rejected int     // open: neither went well nor failed yet
	sums                         float64 // how many there are
	p50, p99                     float64 // the worst of the sums
	from, to                     time.Time
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
			g.open += m.Open()
			g.failed += m.Error
			g.rejected += m.Rejected
			g.p50, g.p99 = max(g.p50, m.P50), max(g.p99, m.P99)
		}
		groups = append(groups, g)
	}
	return groups
}

// curve adds a line through the groups that have a value.
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

// yAxis adds ticks up to the highest value or above, and returns the last of them.
func (p *plot) yAxis(highest float64, show func(float64) string) float64 {
	step := niceStep(highest / 4)
	top := max(step*math.Ceil(highest/step), step)
	for v := 0.0; v <= top+step/2; v += step {
		p.Y = append(p.Y, tick{round(plotHeight - plotBottom - v/top*(plotHeight-plotTop-plotBottom)), show(v), time.Time{}})
	}
	return top
}

// niceStep returns 1, 2 or 5 times a power of ten, and no less than given.
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

// xAxis adds ticks in UTC. Scripts convert them to the reader's time zone.
func (p *plot) xAxis(sums []sluice.Minute, of span) {
	const marks = 4
	layout := "15:04"
	if time.Duration(len(sums))*of.period() > 48*time.Hour {
		layout = "2 Jan"
	}
	for i := range marks {
		at := len(sums) * i / marks
		x := plotLeft + float64(plotWidth-plotLeft)*float64(at)/float64(len(sums))
		p.X = append(p.X, tick{round(x), sums[at].Time.UTC().Format(layout), sums[at].Time})
	}
}

func shownMillis(ms float64) string {
	if ms >= 1000 {
		return strconv.FormatFloat(ms/1000, 'f', -1, 64) + " s"
	}
	return strconv.FormatFloat(math.Round(ms*1000)/1000, 'f', -1, 64) + " ms"
}

func round(v float64) float64 { return math.Round(v*10) / 10 }

// A sparkline is a small plot of counts over time.
type sparkline struct {
	Path          string
	Width, Height int
}

const (
	sparkWidth, sparkHeight = 120, 24
	maxSparks               = 60 // more counts are grouped
)

func newSparkline(counts []int) sparkline {
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
		fmt.Fprintf(&path, "%s%.1f %.1f", move, float64(i)*step, float64(sparkHeight-2)-float64(n)/float64(highest)*(sparkHeight-4))
	}
	return sparkline{path.String(), sparkWidth, sparkHeight}
}
