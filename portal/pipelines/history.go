package pipelines

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"sluice"
	"sluice/portal/calls"
	"sluice/portal/chart"
	"sluice/portal/page"
)

// addHistory adds the latest runs to the page of a pipeline.
func addHistory(v *page.Visit, view *pipelineView) {
	if !v.May("trace.get") {
		return
	}
	const most = "10"
	found := calls.Find(v, "pipeline", view.Name, "limit", most)
	for _, c := range found.Items {
		c.Runs = slices.DeleteFunc(c.Runs, func(run sluice.RunReport) bool { return run.Pipeline != view.Name })
		view.History = append(view.History, c)
	}
	view.Chart = pipelineChart(v, view.Name)
	if view.Failure = latestFailure(view.History, view.Updated); view.Failure != nil {
		view.Failure.Event = calls.Event(v, view.Failure.TraceID)
	}
	view.Live = v.Live("", "")
	if key := view.ListensTo(); key != view.Listens && !strings.ContainsAny(key, "*#") {
		view.Live = v.Live(key, "")
	}
	if len(found.Items) > 0 || found.Next != "" {
		view.RunsURL = v.Base + "/calls?pipeline=" + url.QueryEscape(view.Name)
	}
}

// latestFailure returns the latest run if it failed, and ran the current source.
func latestFailure(history []sluice.CallView, stored time.Time) *runFailure {
	var latest runFailure
	for _, c := range history {
		for _, run := range c.Runs {
			if run.Started.After(latest.Started) {
				latest = runFailure{RunView: calls.RunView{RunReport: run}, TraceID: c.TraceID}
			}
		}
	}
	if latest.Error == nil || latest.Started.Before(stored) {
		return nil
	}
	return &latest
}

// pipelineChart shows the runs of a pipeline by the hour. It returns nil if there are none.
func pipelineChart(v *page.Visit, name string) *chart.Chart {
	c := chart.New(v.R.URL.Query(), v.Base+pipelinePath(name))
	found := page.AskIfAllowed[sluice.PipelineRuns](v, "pipeline.stats", "name", name, "hours", c.Hours())
	if found.Runs == 0 {
		return nil
	}
	var figures []sluice.CallFigures
	for _, of := range found.Hours {
		figures = append(figures, sluice.CallFigures{OK: of.Runs - of.Errors, Error: of.Errors})
	}
	c.Plot = chart.Runs(c.Span.Cut(chart.Hourly(figures)), c.Span)
	if v.May("trace.get") {
		c.Plot.Link(v.Base + "/calls?pipeline=" + url.QueryEscape(name) + "&")
	}
	return c
}
