package pipelines

import (
	"net/url"

	"sluice"
	"sluice/command"
	"sluice/portal/page"
)

// A pipeline is a pipeline with its state.
type pipeline struct {
	sluice.PipelineView

	State sluice.PipelineStats
}

type pipelinesView struct {
	Search string
	Items  []pipeline
	Next   string
}

func pipelinesPage(v *page.Visit) error {
	search := v.Query("search")
	found, err := page.Ask[command.Page[sluice.PipelineView]](v, "pipeline.get",
		"search", search, "after", v.Query("after"), "limit", page.Size)
	if err != nil {
		return err
	}
	states := backlogs(v)
	view := pipelinesView{Search: search, Next: v.Next(found.Next)}
	for _, item := range found.Items {
		view.Items = append(view.Items, pipeline{item, states[item.Name]})
	}
	return v.Show("pipelines", "Pipelines", view)
}

// backlogs returns the states of pipelines, or nil if the user may not see them.
func backlogs(v *page.Visit) map[string]sluice.PipelineStats {
	now, err := page.AskIfAllowed[sluice.PipelineRuns](v, "pipeline.stats", "hours", "1")
	if err != nil {
		return nil
	}
	states := make(map[string]sluice.PipelineStats)
	for _, b := range now.Pipelines {
		states[b.Pipeline] = b
	}
	return states
}

// pipelineNamed returns the pipeline that the path names.
func pipelineNamed(v *page.Visit) (pipeline, error) {
	found, err := page.Ask[sluice.PipelineView](v, "pipeline.get", "name", v.Named("name"))
	if err != nil {
		return pipeline{}, err
	}
	return pipeline{found, backlogs(v)[found.Name]}, nil
}

// pipelinePath returns the path of the page of a pipeline.
func pipelinePath(name string) string { return "/pipelines/" + url.PathEscape(name) }
