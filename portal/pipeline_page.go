package portal

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"sluice"
)

// addHistory adds the latest runs to the page of a pipeline.
func (p *Portal) addHistory(r *http.Request, view *pipelineView) error {
	if !p.allows(r, "trace.get") {
		return nil
	}
	const most = "10"
	found, err := ask[sluice.TraceAnswer](p, r, "trace.get", args("pipeline", view.Name, "limit", most))
	if err != nil {
		return err
	}
	for _, c := range found.Items {
		c.Runs = slices.DeleteFunc(c.Runs, func(run sluice.RunReport) bool { return run.Pipeline != view.Name })
		view.History = append(view.History, c)
	}
	if p.allows(r, "pipeline.stats") {
		if view.Chart, err = p.pipelineChart(r, view.Name); err != nil {
			return err
		}
	}
	if view.Failure = latestFailure(view.History, view.Updated); view.Failure != nil {
		if view.Failure.Event, err = p.seen(r, view.Failure.TraceID); err != nil {
			return err
		}
	}
	view.Live = p.liveFrom("", "")
	if key := view.ListensTo(); key != view.Listens && !strings.ContainsAny(key, "*#") {
		view.Live = p.liveFrom(key, "")
	}
	if len(found.Items) > 0 || found.Next != "" {
		view.RunsURL = p.base + "/calls?pipeline=" + url.QueryEscape(view.Name)
	}
	return nil
}

// latestFailure returns the latest run if it failed, and ran the current source.
func latestFailure(history []tracedCall, stored time.Time) *runFailure {
	var latest runFailure
	for _, c := range history {
		for _, run := range c.Runs {
			if run.Started.After(latest.Started) {
				latest = runFailure{shownRun: shownRun{RunReport: run}, TraceID: c.TraceID}
			}
		}
	}
	if latest.Error == nil || latest.Started.Before(stored) {
		return nil
	}
	return &latest
}

type pipelineView struct {
	pipeline

	Lines    []sourceLine
	Versions []sluice.VersionView
	Findings []sluice.Finding // mistakes, if it were stored now
	Body     string           // of a run by hand
	Trace    string           // of the call whose event that run gets
	Past     []tracedCall     // calls to choose from
	History  []tracedCall
	Chart    *chart // nil if it did not run
	RunsURL  string // list of its runs; "" if there are none
	CallsURL string // list of the calls that start it; "" if no webhook does
	HookURL  string // the webhook that starts it; "" if there is none
	Live     string // path of the live stream of its runs
	Failure  *runFailure
	Ran      bool
	Output   string
	Problem  string
	Tested   *sluice.TestReport
}

// A runFailure is the latest run of a pipeline, which failed.
type runFailure struct {
	shownRun

	TraceID string
	Event   *seenEvent // nil if the user may not see it
}

// Outside reports whether the system that the run called is at fault, rather than the source.
func (f *runFailure) Outside() bool { return isOutside(f.Error) }

// Before returns the version before the current one, or 0.
func (v pipelineView) Before() int {
	if len(v.Versions) < 2 {
		return 0
	}
	return v.Versions[1].Version // newest first
}

func (p *Portal) pipelinePage(w http.ResponseWriter, r *http.Request) error {
	return p.showPipeline(w, r, func(*pipelineView) error { return nil })
}

// showPipeline shows a pipeline, after do has added to the page.
func (p *Portal) showPipeline(w http.ResponseWriter, r *http.Request, do func(*pipelineView) error) error {
	found, err := p.pipeline(r)
	if err != nil {
		return err
	}
	view := &pipelineView{pipeline: found, CallsURL: p.callsOfPipeline(found.PipelineView)}
	if err := do(view); err != nil {
		return err
	}
	if view.HookURL, err = p.hookOfPipeline(r, found.PipelineView); err != nil {
		return err
	}
	if view.Findings, err = p.findingsOf(r, found.PipelineView); err != nil {
		return err
	}
	view.Lines = beginning(highlight(found.Source, view.Findings))
	if view.Versions, err = askIfAllowed[[]sluice.VersionView](p, r, "pipeline.versions", args("name", found.Name)); err != nil {
		return err
	}
	if err := p.addHistory(r, view); err != nil {
		return err
	}
	if err := p.addPast(r, view); err != nil {
		return err
	}
	return p.render(w, r, http.StatusOK, "pipeline", found.Name, view)
}

// callsOfPipeline returns the path of the calls that start a pipeline, or "" if no
// webhook starts it.
func (p *Portal) callsOfPipeline(l sluice.PipelineView) string {
	key := l.ListensTo()
	switch {
	case key == l.Listens:
		return ""
	case strings.ContainsAny(key, "*#"):
		return p.base + "/calls?pipeline=" + url.QueryEscape(l.Name)
	}
	return p.base + "/calls?eventKey=" + url.QueryEscape(key)
}

// hookOfPipeline returns the path of the webhook that starts a pipeline, or "".
func (p *Portal) hookOfPipeline(r *http.Request, l sluice.PipelineView) (string, error) {
	key := l.ListensTo()
	if key == l.Listens || !sluice.ValidKey(key) || !p.allows(r, "webhook.get") {
		return "", nil
	}
	if _, err := ask[sluice.WebhookView](p, r, "webhook.get", args("eventKey", key)); err != nil {
		return "", ignoring(err, sluice.NotFound)
	}
	return p.base + "/webhooks/" + url.PathEscape(key), nil
}

// findingsOf returns the mistakes in a stored pipeline. Rights may have changed since it
// was stored.
func (p *Portal) findingsOf(r *http.Request, stored sluice.PipelineView) ([]sluice.Finding, error) {
	user := sluice.UserFrom(r.Context())
	if !p.may(user, "pipeline.lint") || stored.Owner != user.Name {
		return nil, nil // others would be shown the lack of their own rights
	}
	lint, err := ask[sluice.LintResult](p, r, "pipeline.lint", args("name", stored.Name))
	return lint.Problems, err
}

// pipelineRun runs a pipeline with the event of a past call, or with a typed body.
func (p *Portal) pipelineRun(w http.ResponseWriter, r *http.Request) error {
	return p.showPipeline(w, r, func(view *pipelineView) error {
		view.Body, view.Trace = formText(r, "body"), r.PostForm.Get("trace")
		output, err := p.runPipeline(r, view)
		if err != nil && !isMistake(err) {
			return err
		}
		view.Ran = true
		if err != nil {
			view.Problem = sluice.AsError(err).Message
		} else {
			view.Output = pretty(output)
		}
		return nil
	})
}

func (p *Portal) runPipeline(r *http.Request, view *pipelineView) (json.RawMessage, error) {
	given := args("name", view.Name)
	body := view.Body
	if view.Trace != "" {
		event, err := p.eventOf(r, view.Trace)
		if err != nil {
			return nil, err
		}
		body = string(event)
	}
	if body != "" {
		cmd, _ := p.Commands.Find("pipeline.run")
		param, err := cmd.Param("body")
		if err != nil {
			return nil, err
		}
		given = append(given, argument("body", valueOf(param, body)))
	}
	output, _, err := p.document(r, "pipeline.run", given)
	return output, err
}

// pipelineTest runs the tests in a pipeline's source.
func (p *Portal) pipelineTest(w http.ResponseWriter, r *http.Request) error {
	return p.showPipeline(w, r, func(view *pipelineView) error {
		result, err := ask[sluice.TestReport](p, r, "pipeline.test", args("name", view.Name))
		view.Tested = &result
		return err
	})
}

// addPast adds the calls that a pipeline can be run with to its page.
func (p *Portal) addPast(r *http.Request, view *pipelineView) error {
	if view.Listens == "" || !sluice.UserFrom(r.Context()).May(sluice.MaySeePayload) {
		return nil
	}
	key := view.ListensTo()
	if strings.ContainsAny(key, "*#") || view.Listens == key {
		key = "" // a pattern, or messages: matched below
	}
	const looked = "50"
	found, err := p.latest(r, key, looked)
	if err != nil {
		return err
	}
	const most = 10
	for _, c := range found {
		if c.Accepted() && len(view.Past) < most && sluice.KeyMatches(view.Listens, sluice.EventPrefix+c.EventKey) {
			view.Past = append(view.Past, c)
		}
	}
	return nil
}
