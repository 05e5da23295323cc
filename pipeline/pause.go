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
	return r.pausing("pipeline.pause", "Pause a pipeline: events wait until pipeline.resume, and runs that have "+
		"begun go on. Storing the pipeline again does not end the pause.", true)
}

func resumeCommand(r *Runner) command.Command {
	return r.pausing("pipeline.resume",
		"End the pause of a pipeline: it runs the events that waited, in their order.", false)
}

// pausing declares a command that begins or ends a pause. That reaches every node, since all of
// them follow the stored pipelines.
func (r *Runner) pausing(name, summary string, paused bool) command.Command {
	return command.New(name, summary, func(ctx context.Context, params pauseParams) (sluice.PipelineView, error) {
		saved, err := sluice.Edit(ctx, r.Store, params.Name, unknownPipeline(params.Name),
			func(p *sluice.Pipeline) error {
				if p.Binding == nil {
					return sluice.Errorf(sluice.CodePipelineNotListening,
						"The pipeline %s listens to no events, so there is nothing to pause.", sluice.Quote(p.Name))
				}
				p.Paused = paused
				return nil
			})
		if err != nil {
			return sluice.PipelineView{}, err
		}
		return r.show(saved), nil
	}, command.Missing(missing))
}
