package portal

import (
	"cmp"
	"slices"
	"strconv"

	"sluice/portal/calls"
	"sluice/portal/chart"
	"sluice/portal/page"
	"sluice/portal/webhooks"

	"sluice"
)

// An overviewView is the start page.
type overviewView struct {
	sluice.ServerStats

	Known   bool // what the user may see has figures
	Span    chart.Span
	Spans   []chart.Span
	Sum     sluice.CallFigures // over the span
	Sent    sluice.CallFigures // likewise, of events that no call set off
	Since   string             // start of the span, for the list of calls
	Calls   *chart.Plot
	Latency *chart.Plot
	Busiest []sluice.WebhookStats
	Latest  []sluice.CallView

	Closed    []sluice.Closing       // in this time
	Attention []sluice.PipelineStats // pipelines that fail, are behind, or have dead letters
}

func overviewPage(v *page.Visit) error {
	view := overviewView{
		Span: chart.SpanOf(v.R.URL.Query(), chart.Spans, chart.Spans[1]), Spans: chart.Spans,
	}
	if v.May("server.stats") {
		view.Known = true
		given := []any{"minutes", strconv.Itoa(max(view.Span.Minutes, 1))}
		if view.Span.Hours > 0 {
			given = append(given, "hours", strconv.Itoa(view.Span.Hours))
		}
		var err error
		if view.ServerStats, err = page.Try[sluice.ServerStats](v, "server.stats", given...); err != nil {
			return err
		}
		view.Closed = webhooks.Closings(v, view.sums()[0].Time)
		view.sum(v.Base, v.May("trace.get"))
	} else {
		view.ofScope(v)
	}
	view.Busiest = busiest(v, view.Span)
	const latest = "8"
	view.Latest = calls.Latest(v, "", latest)
	return v.Show("overview", "Overview", view)
}

// ofScope fills the page for a user who may not see the state of the server: the figures of the
// webhooks and pipelines that their roles cover, by the hour.
func (v *overviewView) ofScope(visit *page.Visit) {
	if !visit.May("webhook.stats") || !visit.May("pipeline.stats") {
		return
	}
	c := chart.New(visit.R.URL.Query(), visit.Base+"/")
	v.Known, v.Ready, v.Span, v.Spans = true, true, c.Span, c.Spans
	const most = "1000"
	found := page.Ask[[]sluice.WebhookStats](visit, "webhook.stats", "hours", c.Hours(), "limit", most, "figures", true)
	runs := page.Ask[sluice.PipelineRuns](visit, "pipeline.stats", "hours", "1")
	figures := make([]sluice.CallFigures, c.Span.Hours)
	for _, of := range found {
		for i := range of.Figures {
			figures[i].Add(of.Figures[i])
		}
	}
	v.Hours, v.Pipelines, v.Webhooks = chart.Hourly(figures), runs.Pipelines, len(found)
	for _, p := range runs.Pipelines {
		v.DeadLetters += p.DeadLetters
	}
	v.sum(visit.Base, visit.May("trace.get"))
	v.Latency = nil // it is known of the whole server only
}

// busiest returns the webhooks with most calls in a day or longer.
func busiest(v *page.Visit, s chart.Span) []sluice.WebhookStats {
	const most, day = "8", 24
	return page.AskIfAllowed[[]sluice.WebhookStats](v, "webhook.stats", "hours", strconv.Itoa(max(s.Hours, day)),
		"limit", most)
}

// sums returns the figures of the span.
func (v *overviewView) sums() []sluice.Minute {
	if v.Span.Hours > 0 {
		return v.Span.Cut(v.Hours)
	}
	return v.Span.Cut(v.Minutes)
}

// sum computes the figures and draws the plots. Bars link to their calls if linked is
// set.
func (v *overviewView) sum(base string, linked bool) {
	sums := v.sums()
	for _, m := range sums {
		v.Sum.Add(m.CallFigures)
		if m.Events != nil {
			v.Sent.Add(*m.Events)
		}
	}
	v.Since = sums[0].Time.UTC().Format("2006-01-02T15:04:05")
	for _, b := range v.Pipelines {
		if b.Waiting > 0 || b.Failing != nil || b.DeadLetters > 0 {
			v.Attention = append(v.Attention, b)
		}
	}
	fine := func(p sluice.PipelineStats) int {
		if p.Failing != nil {
			return 0
		}
		return 1
	}
	slices.SortFunc(v.Attention, func(a, b sluice.PipelineStats) int {
		return cmp.Or(cmp.Compare(fine(a), fine(b)), cmp.Compare(b.Waiting+b.DeadLetters, a.Waiting+a.DeadLetters))
	})
	const most = 8
	v.Attention = v.Attention[:min(len(v.Attention), most)]
	v.Calls, v.Latency = chart.Calls(sums, v.Span), chart.Latency(sums, v.Span)
	v.Calls.MarkGaps(v.Closed, sums, v.Span)
	v.Latency.MarkGaps(v.Closed, sums, v.Span)
	if linked {
		v.Calls.Link(base + "/calls?")
		v.Latency.Link(base + "/calls?")
	}
}
