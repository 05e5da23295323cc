package portal

import (
	"net/http"
	"net/url"
	"strconv"

	"sluice"
	"sluice/difference"
	"sluice/problem"
)

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
	now, err := askIfAllowed[sluice.ServerStats](p, r, "server.stats", args("minutes", "1"))
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

// pipelinePause pauses or resumes a pipeline.
func (p *Portal) pipelinePause(w http.ResponseWriter, r *http.Request) error {
	command, done := "pipeline.pause", "paused"
	if r.PostForm.Get("do") == "resume" {
		command, done = "pipeline.resume", "resumed"
	}
	name := r.PathValue("name")
	return p.runThen(w, r, "/pipelines/"+url.PathEscape(name)+"?done="+done, command, args("name", name))
}

// pipelineRetry tries what waits for another attempt now.
func (p *Portal) pipelineRetry(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	return p.runThen(w, r, "/pipelines/"+url.PathEscape(name)+"?done=retried", "event.retry", args("pipeline", name))
}

func (p *Portal) pipelineConfirm(w http.ResponseWriter, r *http.Request, found pipeline) error {
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
func (p *Portal) pipelineDelete(w http.ResponseWriter, r *http.Request, found pipeline) error {
	if _, err := p.run(r, "pipeline.delete", args("name", found.Name)); err != nil {
		return err
	}
	return p.render(w, r, http.StatusOK, "deleted", "Deleted "+found.Name, found)
}

type versionView struct {
	sluice.PipelineView

	Version string
	Now     sluice.PipelineView
	Edits   []diffLine // from this version to the current one
	Lines   []sourceLine
	Problem string
}

func (p *Portal) versionPage(w http.ResponseWriter, r *http.Request) error {
	return p.showVersion(w, r, http.StatusOK, "")
}

func (p *Portal) showVersion(w http.ResponseWriter, r *http.Request, status int, refusal string) error {
	now, err := p.pipeline(r)
	if err != nil {
		return err
	}
	number := r.PathValue("version")
	if _, err := strconv.Atoi(number); err != nil {
		return sluice.Errorf(sluice.CodeVersionUnknown, "There is no such version.")
	}
	former, err := ask[sluice.PipelineView](p, r, "pipeline.get", args("name", now.Name, "version", number))
	if err != nil {
		return err
	}
	view := versionView{PipelineView: former, Version: number, Now: now.PipelineView, Edits: diffLines(former.Source, now.Source), Lines: beginning(highlight(former.Source, nil)), Problem: refusal}
	return p.render(w, r, status, "version", now.Name+", version "+number, view)
}

// versionRollback stores a former source again.
func (p *Portal) versionRollback(w http.ResponseWriter, r *http.Request) error {
	given := args("name", r.PathValue("name"), "version", r.PathValue("version"), "ifMatch", r.PostForm.Get("tag"))
	_, err := p.run(r, "pipeline.rollback", append(given, argument("force", r.PostForm.Get("do") == "force")))
	if err != nil {
		if e := sluice.AsError(err); isMistake(err) && e.Kind != sluice.Forbidden && e.Kind != sluice.NotFound {
			return p.showVersion(w, r, problem.Status(err), e.Message)
		}
		return err
	}
	return p.redirect(w, r, "/pipelines/"+url.PathEscape(r.PathValue("name"))+"?done=rolledback#next")
}

// A diffLine is a line of a difference.
type diffLine struct {
	Class string // added, removed or ""
	Text  string
}

// diffLines returns the difference between two sources.
func diffLines(before, after string) (lines []diffLine) {
	classes := map[byte]string{'+': "added", '-': "removed"}
	for _, e := range difference.Lines(before, after) {
		lines = append(lines, diffLine{classes[e.Sign], string(e.Sign) + " " + e.Line})
	}
	return lines
}
