package chart

import (
	"net/url"
	"slices"
	"time"

	"sluice"
)

// A Span is the time that the overview covers.
type Span struct {
	Name    string // in the query
	Title   string
	Minutes int
	Hours   int // instead of minutes, for longer spans

	From, To time.Time // what a plot was zoomed to, zero if it was not
}

// Spans are those to choose from.
var Spans = []Span{
	{Name: "15m", Title: "15 min", Minutes: 15}, {Name: "hour", Title: "1 h", Minutes: 60},
	{Name: "6h", Title: "6 h", Minutes: 360},
	{Name: "day", Title: "24 h", Minutes: 1440}, {Name: "week", Title: "7 days", Hours: 7 * 24},
	{Name: "month", Title: "30 days", Hours: 30 * 24},
}

// LongSpans are those of which single webhooks and pipelines have figures.
var LongSpans = Spans[3:]

// SpanOf returns the span that a query asks for. A plot can be zoomed to a time within the last
// 30 days.
func SpanOf(query url.Values, offered []Span, otherwise Span) Span {
	from, err := time.Parse(time.RFC3339, query.Get("from"))
	to, wrong := time.Parse(time.RFC3339, query.Get("to"))
	if err == nil && wrong == nil && from.Before(to) {
		zoomed := Span{From: from, To: to, Minutes: minutesKept}
		if time.Since(from) > minutesKept*time.Minute {
			zoomed.Hours = hoursKept
		}
		return zoomed
	}
	if i := slices.IndexFunc(offered, func(s Span) bool { return s.Name == query.Get("span") }); i >= 0 {
		return offered[i]
	}
	return otherwise
}

// How many minutes and hours the server counts.
const (
	minutesKept = 24 * 60
	hoursKept   = 30 * 24
)

// Cut returns the sums within the span.
func (s Span) Cut(sums []sluice.Minute) []sluice.Minute {
	if s.From.IsZero() {
		return sums
	}
	within := slices.DeleteFunc(slices.Clone(sums),
		func(m sluice.Minute) bool { return m.Time.Before(s.From.Truncate(s.period())) || !m.Time.Before(s.To) })
	if len(within) == 0 {
		return sums
	}
	return within
}

// period returns the length of the time that a sum covers.
func (s Span) period() time.Duration {
	if s.Hours > 0 {
		return time.Hour
	}
	return time.Minute
}
