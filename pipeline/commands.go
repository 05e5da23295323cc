package pipeline

import (
	"context"
	"slices"

	"sluice"
	"sluice/command"
	"sluice/pipeline/source"
)

// Commands returns the commands about pipelines and dead letters.
func Commands(r *Runner) []command.Command {
	return []command.Command{
		putCommand(r),
		getCommand(r),
		versionsCommand(r),
		rollbackCommand(r),
		deleteCommand(r),
		pauseCommand(r),
		resumeCommand(r),
		runCommand(r),
		lintCommand(r),
		testCommand(r),
		tryCommand(r),
		letterGetCommand(r),
		letterGroupsCommand(r),
		letterReplayCommand(r),
		letterDeleteCommand(r),
	}
}

func checkName(name string) error {
	if sluice.ValidPipelineName(name) {
		return nil
	}
	return sluice.InvalidParameter("name", "The name of a pipeline must be %s.", sluice.PipelineNameRule)
}

// show returns the view of a pipeline, without its source.
func (r *Runner) show(p *sluice.Pipeline) sluice.PipelineView {
	program, _ := r.program(p) // nil after an error
	return viewOf(p, program)
}

// viewOf returns the view of a pipeline, without its source. The program is nil
// if the source has mistakes.
func viewOf(p *sluice.Pipeline, program *source.Program) sluice.PipelineView {
	v := sluice.PipelineView{Name: p.Name, Owner: p.Owner, Folder: p.Folder, Paused: p.Paused, Version: versionOf(p), ETag: tagOf(p), Created: p.Created, Updated: p.Updated}
	if p.Binding != nil {
		v.Listens = p.Binding.Pattern
	}
	if program != nil {
		v.Description, v.Concurrency, v.Rate = program.Description, program.Concurrency, program.Rate.Text
		v.Listens, _ = program.Listens()
	}
	return v
}

type getParams struct {
	Name    string `json:"name" names:"pipeline" doc:"The one pipeline to show, with its source. Without it all are listed."`
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
			return r.page(ctx, p), nil
		},
		command.ReadOnly, command.Missing(missing), command.Answers([]sluice.PipelineView{}, sluice.PipelineView{}))
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
	shown := viewOf(stored, program)
	shown.Source = stored.Source
	return shown, nil
}

func (r *Runner) page(ctx context.Context, p getParams) command.Page[sluice.PipelineView] {
	cover := sluice.CoverFrom(ctx)
	covered := slices.DeleteFunc(r.Store.All(), func(stored *sluice.Pipeline) bool { return !cover.Name(stored.Name) })
	found := command.PageOf(covered, func(stored *sluice.Pipeline) string { return stored.Name }, p.Search, p.After, p.Limit)
	page := command.Page[sluice.PipelineView]{Items: make([]sluice.PipelineView, len(found.Items)), Next: found.Next}
	for i, stored := range found.Items {
		page.Items[i] = r.show(stored)
	}
	return page
}

type deleteParams struct {
	Name string `json:"name" required:"true" audit:"yes" names:"pipeline" doc:"The pipeline to delete."`

	IfMatch string `json:"ifMatch" doc:"As pipeline.put has it."`
}

type deleted struct {
	Name    string `json:"name"`
	Deleted bool   `json:"deleted"`
}

func deleteCommand(r *Runner) command.Command {
	return command.New("pipeline.delete", "Delete a stored pipeline: events no longer start it, and those that still wait for it are not run.",
		func(ctx context.Context, p deleteParams) (deleted, error) {
			if err := r.remove(ctx, p.Name, false, p.IfMatch); err != nil {
				return deleted{}, err
			}
			return deleted{p.Name, true}, nil
		}, command.Missing(missing))
}

type pauseParams struct {
	Name string `json:"name" required:"true" audit:"yes" names:"pipeline" doc:"Name of the pipeline."`
}

func pauseCommand(r *Runner) command.Command {
	return command.New("pipeline.pause", "Pause a pipeline: events wait until pipeline.resume, and runs that have begun go on. Storing the pipeline again does not end the pause.",
		func(ctx context.Context, p pauseParams) (sluice.PipelineView, error) {
			return r.setPaused(ctx, p.Name, true)
		}, command.Missing(missing))
}

func resumeCommand(r *Runner) command.Command {
	return command.New("pipeline.resume", "End the pause of a pipeline: it runs the events that waited, in their order.",
		func(ctx context.Context, p pauseParams) (sluice.PipelineView, error) {
			return r.setPaused(ctx, p.Name, false)
		}, command.Missing(missing))
}

// setPaused begins or ends a pause. It reaches every node, since all of them follow
// the stored pipelines.
func (r *Runner) setPaused(ctx context.Context, name string, paused bool) (sluice.PipelineView, error) {
	saved, err := r.Store.Change(ctx, name, func(before *sluice.Pipeline, _ map[string]*sluice.Pipeline) (*sluice.Pipeline, error) {
		switch {
		case before == nil:
			return nil, unknownPipeline(name)
		case before.Binding == nil:
			return nil, sluice.Errorf(sluice.CodePipelineNotListening, "The pipeline %s listens to no events, so there is nothing to pause.", sluice.Quote(name))
		}
		next := *before
		next.Paused = paused
		return &next, nil
	})
	if err != nil {
		return sluice.PipelineView{}, err
	}
	return r.show(saved), nil
}
