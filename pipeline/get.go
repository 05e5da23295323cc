package pipeline

import (
	"context"

	"sluice"
	"sluice/command"
)

type getParams struct {
	Name    string `json:"name" doc:"The one pipeline to show, with its source. Without it all are listed."`
	Version int    `json:"version" min:"1" doc:"With name: this version of it, as pipeline.versions lists them. Default: the current one."`
	Search  string `json:"search" doc:"List only pipelines whose name contains this."`
	Limit   int    `json:"limit" min:"1" doc:"List at most this many; the Link header leads to the next page."`
	After   string `json:"after" doc:"List only pipelines whose name comes after this one."`
}

func getCommand(r *Runner) command.Command {
	return command.New("pipeline.get", "List the stored pipelines in the order of their names, or show one with its source.",
		func(ctx context.Context, p getParams) (any, error) {
			if p.Name != "" {
				return r.one(ctx, p)
			}
			if p.Version != 0 {
				return nil, sluice.InvalidParameter("version", "The parameter version is for one pipeline: give its name as well.")
			}
			return r.page(p), nil
		},
		command.ReadOnly, command.Answers([]sluice.PipelineView{}, sluice.PipelineView{}))
}

// one returns a pipeline with its source, as it is or as it was in a version.
func (r *Runner) one(ctx context.Context, p getParams) (any, error) {
	stored, err := r.find(ctx, p.Name)
	if err == nil && p.Version != 0 {
		stored, err = r.at(ctx, stored, p.Version)
	}
	if err != nil {
		return nil, err
	}
	program, _ := r.Parse(stored.Source) // otherwise it is nil
	shown := viewOf(stored, program)
	shown.Source = stored.Source
	return shown, nil
}

// find returns a stored pipeline.
func (r *Runner) find(ctx context.Context, name string) (*sluice.Pipeline, error) {
	stored, err := r.Store.Get(ctx, name)
	if stored == nil && err == nil {
		err = unknownPipeline(name)
	}
	return stored, err
}

func (r *Runner) page(p getParams) command.Page[sluice.PipelineView] {
	found := command.PageOf(r.Store.All(), func(stored *sluice.Pipeline) string { return stored.Name }, p.Search, p.After, p.Limit)
	page := command.Page[sluice.PipelineView]{Items: make([]sluice.PipelineView, len(found.Items)), Next: found.Next}
	for i, stored := range found.Items {
		page.Items[i] = r.show(stored)
	}
	return page
}
