package pipelines

import (
	"net/url"
	"strings"

	"sluice"
	"sluice/portal/calls"
	"sluice/portal/chart"
	"sluice/portal/page"
)

type pipelineView struct {
	Pipeline

	Lines    []sourceLine
	Versions []sluice.VersionView
	Findings []sluice.Finding  // mistakes, if it were stored now
	Past     []sluice.CallView // calls to choose from
	History  []sluice.CallView
	Chart    *chart.Chart // nil if it did not run
	RunsURL  string       // list of its runs; "" if there are none
	CallsURL string       // list of the calls that start it; "" if no webhook does
	HookURL  string       // the webhook that starts it; "" if there is none
	Live     string       // path of the live stream of its runs
	Failure  *runFailure
	Ran      bool
	Output   string
	Problem  string
	Tested   *sluice.TestReport
}

// A runFailure is the latest run of a pipeline, which failed.
type runFailure struct {
	calls.RunView

	TraceID string
	Event   *calls.SeenEvent // nil if the user may not see it
}

func pipelinePage(v *page.Visit, found Pipeline) error {
	return showPipeline(v, pipelineView{Pipeline: found})
}

// showPipeline completes the page of a pipeline and shows it.
func showPipeline(v *page.Visit, view pipelineView) error {
	found := view.Pipeline
	view.CallsURL = callsOfPipeline(v, found.PipelineView)
	view.HookURL = hookOfPipeline(v, found.PipelineView)
	view.Findings = findingsOf(v, found.PipelineView)
	view.Lines = beginning(highlight(found.Source, view.Findings))
	view.Versions = page.AskIfAllowed[[]sluice.VersionView](v, "pipeline.versions", "name", found.Name)
	addHistory(v, &view)
	addPast(v, &view)
	return v.Show("pipeline", found.Name, view)
}

// callsOfPipeline returns the path of the calls that start a pipeline, or "" if no
// webhook starts it.
func callsOfPipeline(v *page.Visit, l sluice.PipelineView) string {
	key := l.ListensTo()
	switch {
	case key == l.Listens:
		return ""
	case strings.ContainsAny(key, "*#"):
		return v.Base + "/calls?pipeline=" + url.QueryEscape(l.Name)
	}
	return v.Base + "/calls?eventKey=" + url.QueryEscape(key)
}

// hookOfPipeline returns the path of the webhook that starts a pipeline, or "".
func hookOfPipeline(v *page.Visit, l sluice.PipelineView) string {
	key := l.ListensTo()
	if key == l.Listens || !sluice.ValidKey(key) || !v.May("webhook.get") {
		return ""
	}
	if _, err := page.Try[sluice.WebhookView](v, "webhook.get", "eventKey", key); err != nil {
		v.Fail(page.Ignoring(err, sluice.NotFound))
		return ""
	}
	return v.Base + "/webhooks/" + url.PathEscape(key)
}

// findingsOf returns the mistakes in a stored pipeline. Rights may have changed since it
// was stored.
func findingsOf(v *page.Visit, stored sluice.PipelineView) []sluice.Finding {
	if stored.Owner != v.User.Name {
		return nil // others would be shown the lack of their own rights
	}
	return page.AskIfAllowed[sluice.LintResult](v, "pipeline.lint", "name", stored.Name).Problems
}
