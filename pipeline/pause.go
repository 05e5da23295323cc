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
			return r.pause(ctx, p.Name, true)
		},
		command.Missing(missing))
}

type resumeParams struct {
	Name string `json:"name" audit:"yes" names:"pipeline" doc:"Name of the pipeline."`
	All  bool   `json:"all" audit:"yes" doc:"In place of name: end the pauses of all pipelines."`
}

func resumeCommand(r *Runner) command.Command {
	return command.New("pipeline.resume",
		"End the pause of a pipeline, or of all of them: it runs the events that waited, in their order.",
		func(ctx context.Context, p resumeParams) (any, error) {
			if p.All == (p.Name != "") {
				return nil, sluice.InvalidParameter("name", "Give the parameter name, or all=true in its place.")
			}
			if !p.All {
				return r.pause(ctx, p.Name, false)
			}
			resumed, cover := []sluice.PipelineView{}, sluice.CoverFrom(ctx)
			for _, stored := range r.Store.All() {
				if !stored.Paused || !cover.Name(stored.Name) {
					continue
				}
				shown, err := r.pause(ctx, stored.Name, false)
				if err != nil && sluice.AsError(err).Kind != sluice.NotFound { // deleted meanwhile
					return nil, err
				}
				resumed = append(resumed, shown)
			}
			return sluice.List[sluice.PipelineView]{Items: resumed}, nil
		}, command.OneOrAll[sluice.PipelineView], command.Missing(missing))
}

// pause begins or ends a pause. That reaches every node, since all of them follow the stored
// pipelines.
func (r *Runner) pause(ctx context.Context, name string, paused bool) (view sluice.PipelineView, err error) {
	saved, err := sluice.Edit(ctx, r.Store, name, unknownPipeline(name), func(p *sluice.Pipeline) error {
		if p.Binding == nil {
			return sluice.CodePipelineNotListening.Errorf(
				"The pipeline %s listens to no events, so there is nothing to pause.", sluice.Quote(p.Name))
		}
		p.Paused, p.Quiet = paused, p.Quiet && paused
		return nil
	})
	if err != nil {
		return view, err
	}
	return r.show(saved), nil
}
