// Package chart draws figures over time, as SVG: plots, sparklines, and the spans of time that they cover. The
// templates that show them are in package page.
package chart

import (
	"math"
	"net/url"
	"time"

	"sluice"
)

// A Tick is a labelled point on an axis.
type Tick struct {
	At    float64
	Label string
	Time  time.Time // zero if the label is no time
}

// A Plot is an SVG picture of figures over time.
type Plot struct {
	Title   string
	Bars    []plotBar
	Spots   []plotSpot
	Lines   []plotLine
	Gaps    []plotBar // times in which no calls were taken
	X, Y    []Tick
	Legend  []legend
	Summary string // for people who don't see it
	Empty   string // shown if there are no values
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

// The sizes of a plot, which its template has, too.
const (
	plotWidth  = 480
	plotHeight = 200
	plotLeft   = 54
	plotTop    = 8
	plotBottom = 24
	maxBars    = 120 // more sums are grouped
)

func (p *Plot) spot(i, of int, g group, text string) {
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

// Link links the spots to their calls, which a path with a query lists.
func (p *Plot) Link(calls string) {
	const layout = "2006-01-02T15:04:05"
	for i := range p.Spots {
		s := &p.Spots[i]
		s.Link = calls + "from=" + url.QueryEscape(s.From.Format(layout)) + "&to=" +
			url.QueryEscape(s.To.Format(layout))
	}
}

// yAxis adds ticks up to the highest value or above, at least so far apart, and returns the last of them.
func (p *Plot) yAxis(highest, apart float64, show func(float64) string) float64 {
	step := max(niceStep(highest/4), apart)
	top := max(step*math.Ceil(highest/step), step)
	for v := 0.0; v <= top+step/2; v += step {
		p.Y = append(p.Y, Tick{
			round(plotHeight - plotBottom - v/top*(plotHeight-plotTop-plotBottom)), show(v), time.Time{},
		})
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
func (p *Plot) xAxis(sums []sluice.Minute, of Span) {
	const marks = 4
	layout := "15:04"
	if time.Duration(len(sums))*of.period() > 48*time.Hour {
		layout = "2 Jan"
	}
	for i := range marks {
		at := len(sums) * i / marks
		x := plotLeft + float64(plotWidth-plotLeft)*float64(at)/float64(len(sums))
		p.X = append(p.X, Tick{round(x), sums[at].Time.UTC().Format(layout), sums[at].Time})
	}
}

func round(v float64) float64 { return math.Round(v*10) / 10 }
