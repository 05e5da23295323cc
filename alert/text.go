package alert

import (
	"strings"
	"time"

	"sluice"
)

const dayAndClock = "2 January, 15:04 UTC"

// clock returns a time as people say it: with the day if it is not of the last 24 hours.
func clock(at, now time.Time) string {
	const day = 24 * time.Hour
	if now.Sub(at) < day {
		return at.UTC().Format("15:04 UTC")
	}
	return at.UTC().Format(dayAndClock)
}

// message says what is wrong: why, how many things it is about, and since when.
func (c *Condition) message(since, now time.Time) string {
	if c.Kind == sluice.AlertClosed {
		return c.Cause // it says all, and is over when it is told
	}
	text := c.Kind.Words(c.Subject).Title
	if c.Cause != "" {
		text += ": " + strings.TrimSuffix(c.Cause, ".")
	}
	if c.Many != "" {
		text += "; " + c.Many
	}
	return text + ", since " + clock(since, now) + "."
}

// allClear says that it is over, how long it was, and what it was. a has the title of that.
func allClear(a sluice.Alert, now time.Time) string {
	if a.Kind == sluice.AlertClosed {
		return a.Title + "."
	}
	text := a.Title + ". It is over after " + sluice.ShortDuration(a.Until.Sub(a.Since).Round(time.Second)) +
		", from " + clock(a.Since, now) + " to " + clock(a.Until, now) + "."
	if a.Cause != "" {
		text += " It was: " + strings.TrimSuffix(a.Cause, ".") + "."
	}
	return text
}

// view adds to an alert what is not stored.
func (w *Alerts) view(a sluice.Alert) sluice.Alert {
	words := a.Kind.Words(a.Subject)
	a.Title = words.Title
	if w.PublicURL != "" {
		a.URL = w.PublicURL + words.Page
	}
	return a
}
