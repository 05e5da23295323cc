package pipeline

import (
	"context"

	"sluice"
	"sluice/command"
)

type rollbackParams struct {
	Name    string `json:"name" required:"true" audit:"yes" doc:"The pipeline."`
	Version int    `json:"version" required:"true" min:"1" audit:"yes" doc:"The version whose source is stored again; pipeline.versions lists them."`
	Force   bool   `json:"force" doc:"Store it although steps would be refused when it runs, as pipeline.put does."`
	IfMatch string `json:"ifMatch" doc:"As pipeline.put has it."`
}

func rollbackCommand(r *Runner) command.Command {
	return command.New("pipeline.rollback", "Store an earlier version of a pipeline again, as a new version that is yours. It is checked as by pipeline.put.",
		func(ctx context.Context, p rollbackParams) (sluice.PipelineView, error) {
			stored, err := r.find(ctx, p.Name)
			if err != nil {
				return sluice.PipelineView{}, err
			}
			wanted, err := r.at(ctx, stored, p.Version)
			if err != nil {
				return sluice.PipelineView{}, err
			}
			return r.put(ctx, putParams{Name: p.Name, Source: wanted.Source, Force: p.Force, IfMatch: p.IfMatch})
		})
}
