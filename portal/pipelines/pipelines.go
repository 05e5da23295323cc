package pipelines

import (
	"net/url"

	"sluice"
	"sluice/command"
	"sluice/portal/page"
)

// A Pipeline is a pipeline with its state.
type Pipeline struct {
	sluice.PipelineView

	State sluice.PipelineStats
}

type pipelinesView struct {
	Items []Pipeline
	Next  string
}

func pipelinesPage(v *page.Visit) error {
	found, next := Find(v, v.Asked("search"))
	return v.Show("pipelines", "Pipelines", pipelinesView{found, v.Next(next)})
}

// Find lists pipelines with their states.
func Find(v *page.Visit, given ...any) (all []Pipeline, next string) {
	found := page.Ask[command.Page[sluice.PipelineView]](v, "pipeline.get", given...)
	states := backlogs(v)
	for _, item := range found.Items {
		all = append(all, Pipeline{item, states[item.Name]})
	}
	return all, found.Next
}

// backlogs returns the states of pipelines, none if the user may not see them.
func backlogs(v *page.Visit) map[string]sluice.PipelineStats {
	states := make(map[string]sluice.PipelineStats)
	for _, b := range page.Glance[sluice.PipelineRuns](v, "pipeline.stats", "hours", "1").Pipelines {
		states[b.Pipeline] = b
	}
	return states
}

// pipelineNamed returns the pipeline that the path names.
func pipelineNamed(v *page.Visit) Pipeline {
	found := page.Ask[sluice.PipelineView](v, "pipeline.get", "name", v.Named("name"))
	return Pipeline{found, backlogs(v)[found.Name]}
}

// pipelinePath returns the path of the page of a pipeline.
func pipelinePath(name string) string { return "/pipelines/" + url.PathEscape(name) }
