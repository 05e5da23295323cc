package chart

import (
	"net/url"
	"slices"
	"strconv"
	"time"

	"sluice"
)

// A Chart is the plot of a webhook or a pipeline, with the spans to choose from.
type Chart struct {
	Plot  *Plot
	Span  Span
	Spans []Span
	Path  string // of the page
}

// Hourly returns an hour for each of some figures, the last of them the current one.
func Hourly(figures []sluice.CallFigures) []sluice.Minute {
	hours := make([]sluice.Minute, len(figures))
	at := time.Now().UTC().Truncate(time.Hour)
	for i := range slices.Backward(figures) {
		hours[i] = sluice.Minute{Time: at, CallFigures: figures[i]}
		at = at.Add(-time.Hour)
	}
	return hours
}

// New returns the chart of a page, which is by the hour.
func New(query url.Values, path string) *Chart {
	of := SpanOf(query, LongSpans, LongSpans[0])
	of.Hours = max(of.Hours, of.Minutes/60)
	return &Chart{Span: of, Spans: LongSpans, Path: path}
}

// Hours returns how many hours the chart covers, as commands take it.
func (c *Chart) Hours() string { return strconv.Itoa(c.Span.Hours) }
