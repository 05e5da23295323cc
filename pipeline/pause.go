package pipeline

import (
	"context"

	"sluice"
)

type pauseParams struct {
	Name string `json:"name" required:"true" audit:"yes" names:"pipeline" doc:"Name of the pipeline."`
}

func (r *Runner) pause(ctx context.Context, p pauseParams) (sluice.PipelineView, error) {
	return r.setPaused(ctx, p.Name, true)
}

type resumeParams struct {
	Name string `json:"name" audit:"yes" names:"pipeline" doc:"Name of the pipeline."`
	All  bool   `json:"all" audit:"yes" doc:"In place of name: end the pauses of all pipelines."`
}

func (r *Runner) resume(ctx context.Context, p resumeParams) (any, error) {
	if p.All == (p.Name != "") {
		return nil, sluice.InvalidParameter("name", "Give the parameter name, or all=true in its place.")
	}
	if !p.All {
		return r.setPaused(ctx, p.Name, false)
	}
	resumed, cover := []sluice.PipelineView{}, sluice.CoverFrom(ctx)
	for _, stored := range r.Store.All() {
		if !stored.Paused || !cover.Name(stored.Name) {
			continue
		}
		shown, err := r.setPaused(ctx, stored.Name, false)
		if err != nil && sluice.AsError(err).Kind != sluice.NotFound { // deleted meanwhile
			return nil, err
		}
		resumed = append(resumed, shown)
	}
	return sluice.List[sluice.PipelineView]{Items: resumed}, nil
}

// setPaused begins or ends a pause. That reaches every node, since all of them follow the stored
// pipelines.
func (r *Runner) setPaused(ctx context.Context, name string, paused bool) (view sluice.PipelineView, err error) {
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
