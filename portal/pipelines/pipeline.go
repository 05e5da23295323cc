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
	Body     string            // of a run by hand
	Trace    string            // of the call whose event that run gets
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

// Outside reports whether the system that the run called is at fault, rather than the source.
func (f *runFailure) Outside() bool { return calls.IsOutside(f.Error) }

func pipelinePage(v *page.Visit) error {
	return showPipeline(v, func(*pipelineView) error { return nil })
}

// showPipeline shows a pipeline, after do has added to the page.
func showPipeline(v *page.Visit, do func(*pipelineView) error) error {
	found, err := pipelineNamed(v)
	if err != nil {
		return err
	}
	view := &pipelineView{Pipeline: found, CallsURL: callsOfPipeline(v, found.PipelineView)}
	if err := do(view); err != nil {
		return err
	}
	if view.HookURL, err = hookOfPipeline(v, found.PipelineView); err != nil {
		return err
	}
	if view.Findings, err = findingsOf(v, found.PipelineView); err != nil {
		return err
	}
	view.Lines = beginning(highlight(found.Source, view.Findings))
	if view.Versions, err = page.AskIfAllowed[[]sluice.VersionView](v, "pipeline.versions",
		"name", found.Name); err != nil {
		return err
	}
	if err := addHistory(v, view); err != nil {
		return err
	}
	if err := addPast(v, view); err != nil {
		return err
	}
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
func hookOfPipeline(v *page.Visit, l sluice.PipelineView) (string, error) {
	key := l.ListensTo()
	if key == l.Listens || !sluice.ValidKey(key) || !v.May("webhook.get") {
		return "", nil
	}
	if _, err := page.Ask[sluice.WebhookView](v, "webhook.get", "eventKey", key); err != nil {
		return "", page.Ignoring(err, sluice.NotFound)
	}
	return v.Base + "/webhooks/" + url.PathEscape(key), nil
}

// findingsOf returns the mistakes in a stored pipeline. Rights may have changed since it
// was stored.
func findingsOf(v *page.Visit, stored sluice.PipelineView) ([]sluice.Finding, error) {
	if !v.May("pipeline.lint") || stored.Owner != v.User.Name {
		return nil, nil // others would be shown the lack of their own rights
	}
	lint, err := page.Ask[sluice.LintResult](v, "pipeline.lint", "name", stored.Name)
	return lint.Problems, err
}
