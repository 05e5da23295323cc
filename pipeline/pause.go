package pipeline

import (
	"context"

	"sluice"
	"sluice/command"
)

type pauseParams struct {
	Name string `json:"name" required:"true" audit:"yes" doc:"Name of the pipeline."`
}

func pauseCommand(r *Runner) command.Command {
	return command.New("pipeline.pause", "Pause a pipeline: events wait until pipeline.resume, and runs that have begun go on. Storing the pipeline again does not end the pause.",
		func(ctx context.Context, p pauseParams) (view, error) { return r.setPaused(ctx, p.Name, true) })
}

func resumeCommand(r *Runner) command.Command {
	return command.New("pipeline.resume", "End the pause of a pipeline: it runs the events that waited, in their order.",
		func(ctx context.Context, p pauseParams) (view, error) { return r.setPaused(ctx, p.Name, false) })
}

// setPaused begins or ends a pause. Every node follows the stored pipelines, and
// so the pause.
func (r *Runner) setPaused(ctx context.Context, name string, paused bool) (view, error) {
	saved, err := r.Store.Change(ctx, name, func(before *sluice.Pipeline, _ map[string]*sluice.Pipeline) (*sluice.Pipeline, error) {
		switch {
		case before == nil:
			return nil, unknownPipeline(name)
		case before.Binding == nil:
			return nil, sluice.Errorf(sluice.CodePipelineNotListening, "The pipeline %s listens to no events, so there is nothing to pause.", quote(name))
		}
		next := *before
		next.Paused = paused
		return &next, nil
	})
	if err != nil {
		return view{}, err
	}
	return r.show(saved), nil
}
