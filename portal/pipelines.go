package portal

import (
	"net/http"
	"net/url"

	"sluice"
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
	if !p.allows(r, "server.stats") {
		return nil
	}
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

// pipelineRetry tries what waits for another attempt now.
func (p *Portal) pipelineRetry(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	if _, err := ask[sluice.Retries](p, r, "event.retry", args("pipeline", name)); err != nil {
		return err
	}
	p.redirect(w, r, "/pipelines/"+url.PathEscape(name)+"?done=retried")
	return nil
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

// versions returns the versions of a pipeline, newest first, if the user may see them.
func (p *Portal) versions(r *http.Request, name string) ([]sluice.VersionView, error) {
	if !p.allows(r, "pipeline.versions") {
		return nil, nil
	}
	return ask[[]sluice.VersionView](p, r, "pipeline.versions", args("name", name))
}
