package pipeline

import (
	"context"

	"sluice"
	"sluice/command"
)

type pauseParams struct {
	Name string `json:"name" required:"true" audit:"yes" names:"pipeline" doc:"Name of the pipeline."`
}

func pauseCommand(r *Runner) command.Command {
	return command.New("pipeline.pause", "Pause a pipeline: events wait until pipeline.resume, and runs that have "+
		"begun go on. Storing the pipeline again does not end the pause.",
		func(ctx context.Context, p pauseParams) (sluice.PipelineView, error) {
			return r.setPaused(ctx, p.Name, true)
		}, command.Missing(missing))
}

func resumeCommand(r *Runner) command.Command {
	return command.New("pipeline.resume",
		"End the pause of a pipeline: it runs the events that waited, in their order.",
		func(ctx context.Context, p pauseParams) (sluice.PipelineView, error) {
			return r.setPaused(ctx, p.Name, false)
		}, command.Missing(missing))
}

// setPaused begins or ends a pause. It reaches every node, since all of them follow
// the stored pipelines.
func (r *Runner) setPaused(ctx context.Context, name string, paused bool) (sluice.PipelineView, error) {
	saved, err := sluice.Edit(ctx, r.Store, name, unknownPipeline(name), func(p *sluice.Pipeline) error {
		if p.Binding == nil {
			return sluice.Errorf(sluice.CodePipelineNotListening,
				"The pipeline %s listens to no events, so there is nothing to pause.", sluice.Quote(name))
		}
		p.Paused = paused
		return nil
	})
	if err != nil {
		return sluice.PipelineView{}, err
	}
	return r.show(saved), nil
}
