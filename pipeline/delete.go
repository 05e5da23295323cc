package pipeline

import (
	"context"

	"sluice"
)

type deleteParams struct {
	Name string `json:"name" required:"true" audit:"yes" names:"pipeline" doc:"The pipeline to delete."`

	IfMatch string `json:"ifMatch" doc:"As pipeline.put has it."`
}

func (r *Runner) delete(ctx context.Context, p deleteParams) (string, error) {
	return p.Name, r.remove(ctx, p.Name, false, p.IfMatch)
}

// remove deletes a pipeline that has one of the tags. folder says whether the pipeline
// must be from the operator's folder.
func (r *Runner) remove(ctx context.Context, name string, folder bool, tags string) error {
	var old *sluice.Binding
	_, err := sluice.Replace(ctx, r.Store, name,
		func(before *sluice.Pipeline) (*sluice.Pipeline, error) {
			old = nil
			switch {
			case before == nil:
				return nil, unknownPipeline(name)
			case before.Folder != folder:
				return nil, readOnly(name)
			}
			if err := checkMatch(tags, before, name); err != nil {
				return nil, err
			}
			old = before.Binding
			return nil, nil
		})
	if err != nil {
		r.unbindUnused(ctx, name, old)
		return err
	}
	r.unbind(ctx, name, old)
	r.forget(ctx, name)
	return nil
}
