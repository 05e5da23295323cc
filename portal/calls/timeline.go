package calls

import (
	"cmp"
	"fmt"
	"time"

	"sluice"
	"sluice/portal/chart"
	"sluice/portal/page"
	"sluice/wording"
)

// A timeline is a picture of a call: a row for its acceptance, and one for each run
// with its steps.
type timeline struct {
	Width, Height int
	Rows          []timelineRow
	Ticks         []chart.Tick
	Summary       string // for people who don't see it
}

// A timelineRow is a bar with smaller bars in it.
type timelineRow struct {
	Y       int
	Label   string
	Note    string
	Outer   bar
	Inner   []bar
	Caption string
}

// A bar is a span of time.
type bar struct {
	X, Width float64
	Class    string
	Title    string
}

const (
	timelineWidth = 900
	timelineLeft  = 190
	timelineRight = 90
	rowHeight     = 40
	axisHeight    = 24
	maxRows       = 30
	maxSteps      = 200
	leastWidth    = 2 // of a bar, to be visible
)

// picture draws the calls of a trace id, oldest first. It returns nil if nothing ran.
func picture(items []sluice.CallView) *timeline {
	if !items[0].Accepted() && len(items[0].Runs) == 0 {
		return nil
	}
	begin, end := extent(items)
	length := max(end.Sub(begin), time.Microsecond)
	t := &timeline{Width: timelineWidth}
	draw := func(at time.Time, milliseconds float64, class, title string) bar {
		const plotWidth = timelineWidth - timelineLeft - timelineRight
		x := float64(at.Sub(begin)) / float64(length) * plotWidth
		width := max(float64(page.Duration(milliseconds))/float64(length)*plotWidth, leastWidth)
		return bar{
			timelineLeft + min(x, plotWidth-leastWidth), min(width, plotWidth-min(x, plotWidth-leastWidth)), class,
			title,
		}
	}
	for _, c := range items {
		if c.Accepted() {
			t.add("accepted", c.EventKey, draw(c.Time, c.Duration, "accept", ""), c.Duration,
				[]bar{draw(c.Time, c.Stored(), "stored", "on stable storage after "+
					wording.Duration(page.Duration(c.Stored())))})
		}
		for _, r := range c.Own() {
			var steps []bar
			for _, s := range r.Steps[:min(len(r.Steps), maxSteps)] {
				steps = append(steps, draw(r.Started.Add(page.Duration(s.Started)), s.Duration, "step "+
					string(s.Status),
					fmt.Sprintf("%s, line %d: %s", s.Command, s.Line, wording.Duration(page.Duration(s.Duration)))))
			}
			t.add(cmp.Or(r.Pipeline, "(not stored)"), fmt.Sprintf("attempt %d", r.Attempt),
				draw(r.Started, r.Duration, "run "+string(r.Status), ""), r.Duration, steps)
		}
	}
	const marks = 4
	for i := range marks + 1 {
		t.Ticks = append(t.Ticks, chart.Tick{
			At:    timelineLeft + float64(timelineWidth-timelineLeft-timelineRight)*float64(i)/marks,
			Label: wording.Duration(length * time.Duration(i) / marks),
		})
	}
	t.Height = len(t.Rows)*rowHeight + axisHeight
	return t
}

// add adds a row if there is space.
func (t *timeline) add(label, note string, outer bar, milliseconds float64, inner []bar) {
	if len(t.Rows) == maxRows {
		return
	}
	took := wording.Duration(page.Duration(milliseconds))
	t.Rows = append(t.Rows, timelineRow{
		Y: len(t.Rows) * rowHeight, Label: page.Clipped(label, 26), Note: page.Clipped(note, 30),
		Outer: outer, Inner: inner, Caption: took,
	})
	t.Summary += fmt.Sprintf("%s (%s): %s. ", label, note, took)
}

// extent returns the earliest start and the latest end.
func extent(items []sluice.CallView) (begin, end time.Time) {
	begin, end = items[0].Time, items[0].Time
	grow := func(from time.Time, milliseconds float64) {
		if from.Before(begin) {
			begin = from
		}
		if to := from.Add(page.Duration(milliseconds)); to.After(end) {
			end = to
		}
	}
	for _, c := range items {
		grow(c.Time, c.Duration)
		for _, r := range c.Own() {
			grow(r.Started, r.Duration)
		}
	}
	return begin, end
}
