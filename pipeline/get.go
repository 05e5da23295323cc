package pipeline

import (
	"context"
	"slices"
	"time"

	"sluice"
	"sluice/command"
	"sluice/pipeline/source"
)

// show returns the view of a pipeline, without its source.
func (r *Runner) show(p *sluice.Pipeline) sluice.PipelineView {
	program, _ := r.program(p) // nil after an error
	return viewOf(p, program)
}

// viewOf returns the view of a pipeline, without its source. The program is nil
// if the source has mistakes.
func viewOf(p *sluice.Pipeline, program *source.Program) sluice.PipelineView {
	v := sluice.PipelineView{
		Name: p.Name, Owner: p.Owner, Folder: p.Folder, Paused: p.Paused, Version: versionOf(p), ETag: tagOf(p),
		Created: p.Created, Updated: p.Updated,
	}
	if p.Binding != nil {
		v.Listens = p.Binding.Pattern
	}
	if program != nil {
		v.Description, v.Concurrency, v.Rate = program.Description, program.Concurrency, program.Rate.Text
		if v.Listens, _ = program.Listens(p.Name); v.Listens != "" && program.Trigger.Schedule != nil {
			v.Schedule, v.Next = program.Trigger.Schedule.Text, program.Trigger.Schedule.Next(time.Now())
		}
	}
	return v
}

type getParams struct {
	Name    string `json:"name" names:"pipeline" doc:"The one pipeline to show, with its source. Without it all are listed."`
	Version int    `json:"version" min:"1" doc:"With name: this version of it, as pipeline.versions lists them. Default: the current one."`

	command.Filter `things:"pipelines" by:"name"`
}

// get lists the pipelines that are covered, or shows one.
func (r *Runner) get(ctx context.Context, p getParams) (any, error) {
	if p.Name != "" {
		return r.one(ctx, p)
	}
	if p.Version != 0 {
		return nil, sluice.InvalidParameter("version",
			"The parameter version is for one pipeline: give its name as well.")
	}
	cover := sluice.CoverFrom(ctx)
	covered := slices.DeleteFunc(r.Store.All(),
		func(stored *sluice.Pipeline) bool { return !cover.Name(stored.Name) })
	return command.PageOf(covered, func(stored *sluice.Pipeline) string { return stored.Name }, r.show,
		p.Filter), nil
}

// one returns a pipeline with its source, as it is now or in an earlier version.
func (r *Runner) one(ctx context.Context, p getParams) (any, error) {
	stored, err := r.find(ctx, p.Name)
	if err == nil && p.Version != 0 {
		stored, err = r.at(ctx, stored, p.Version)
	}
	if err != nil {
		return nil, err
	}
	program, _ := r.parse(ctx, stored.Source) // nil after an error
	view := viewOf(stored, program)
	view.Source = stored.Source
	return view, nil
}
