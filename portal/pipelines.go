package portal

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"sluice"
)

func (p *Portal) routePipelines() {
	p.page("GET /pipelines", p.pipelineList)
	p.page("GET /pipelines/new", p.pipelineNew)
	p.form("/pipelines/new", p.pipelineSave)
	p.page("GET /pipelines/{name}", p.pipelinePage)
	p.page("GET /pipelines/{name}/edit", p.pipelineEdit)
	p.form("/pipelines/{name}/edit", p.pipelineSave)
	p.form("/editor/check", p.editorCheck)
	p.page("GET /editor/words", p.editorWords)
	p.page("GET /pipelines/{name}/versions/{version}", p.versionPage)
	p.form("/pipelines/{name}/versions/{version}/rollback", p.versionRollback)
	p.form("/pipelines/{name}/run", p.pipelineRun)
	p.form("/pipelines/{name}/pause", p.pipelinePause)
	p.page("POST /pipelines/{name}/test", p.pipelineTest)
	p.page("GET /pipelines/{name}/delete", p.pipelineConfirm)
	p.page("POST /pipelines/{name}/delete", p.pipelineDelete)
}

// A pipeline is a pipeline with its state.
type pipeline struct {
	sluice.PipelineView

	State sluice.PipelineStats
}

type pipelineListView struct {
	Search string
	Items  []pipeline
	Next   string
}

func (p *Portal) pipelineList(w http.ResponseWriter, r *http.Request) error {
	search := r.URL.Query().Get("search")
	items, next, err := fetch[sluice.PipelineView](p, r, "pipeline.get", args("search", search, "after", r.URL.Query().Get("after"), "limit", pageSize))
	if err != nil {
		return err
	}
	states := p.backlogs(r)
	view := pipelineListView{Search: search, Next: p.nextPage(r, next)}
	for _, item := range items {
		view.Items = append(view.Items, pipeline{item, states[item.Name]})
	}
	return p.render(w, r, http.StatusOK, "pipelines", "Pipelines", view)
}

// backlogs returns the states of pipelines, or nil if the user may not see them.
func (p *Portal) backlogs(r *http.Request) map[string]sluice.PipelineStats {
	now, err := ask[sluice.ServerStats](p, r, "server.stats", args("minutes", "1"))
	if err != nil {
		return nil
	}
	states := make(map[string]sluice.PipelineStats)
	for _, b := range now.Pipelines {
		states[b.Pipeline] = b
	}
	return states
}

// pipeline returns the pipeline that the path names.
func (p *Portal) pipeline(r *http.Request) (pipeline, error) {
	found, err := ask[sluice.PipelineView](p, r, "pipeline.get", args("name", r.PathValue("name")))
	if err != nil {
		return pipeline{}, err
	}
	return pipeline{found, p.backlogs(r)[found.Name]}, nil
}

// A pipelineView is the page of one pipeline.
type pipelineView struct {
	pipeline

	Lines    []sourceLine
	Versions []sluice.VersionView
	Findings []sluice.Finding // mistakes, if it were stored now
	Body     string           // of a run by hand
	Trace    string           // of the call whose event that run gets
	Past     []tracedCall     // calls to choose from
	History  []tracedCall
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
	sluice.RunReport

	TraceID string
	Event   *seenEvent // nil if the user may not see it
}

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
	if view.Versions, err = p.versions(r, found.Name); err != nil {
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

// pipelinePause pauses or resumes a pipeline.
func (p *Portal) pipelinePause(w http.ResponseWriter, r *http.Request) error {
	command, done := "pipeline.pause", "paused"
	if r.PostForm.Get("do") == "resume" {
		command, done = "pipeline.resume", "resumed"
	}
	if _, err := p.run(r, command, args("name", r.PathValue("name"))); err != nil {
		return err
	}
	p.redirect(w, r, "/pipelines/"+url.PathEscape(r.PathValue("name"))+"?done="+done)
	return nil
}

// pipelineTest runs the tests in a pipeline's source.
func (p *Portal) pipelineTest(w http.ResponseWriter, r *http.Request) error {
	return p.showPipeline(w, r, func(view *pipelineView) error {
		result, err := ask[sluice.TestReport](p, r, "pipeline.test", args("name", view.Name))
		view.Tested = &result
		return err
	})
}

func (p *Portal) pipelineConfirm(w http.ResponseWriter, r *http.Request) error {
	found, err := p.pipeline(r)
	if err != nil {
		return err
	}
	path := "/pipelines/" + url.PathEscape(found.Name)
	asked := confirmation{
		Name: found.Name, What: "pipeline", Action: path + "/delete", Back: path,
		Effect: "Events don’t start it any more, those that still wait for it are not run, and its versions are gone.",
	}
	if found.Listens != "" && !found.Paused && p.allows(r, "pipeline.pause") {
		asked.Instead = &instead{"Pause it instead", "Paused, it lets events wait until you resume it; nothing is lost.", path + "/pause", "do", "pause"}
	}
	return p.render(w, r, http.StatusOK, "confirm", "Delete "+found.Name, asked)
}

// pipelineDelete deletes a pipeline. The next page has the source, to undo that.
func (p *Portal) pipelineDelete(w http.ResponseWriter, r *http.Request) error {
	found, err := p.pipeline(r)
	if err != nil {
		return err
	}
	if _, err := p.run(r, "pipeline.delete", args("name", found.Name)); err != nil {
		return err
	}
	return p.render(w, r, http.StatusOK, "deleted", "Deleted "+found.Name, found)
}
