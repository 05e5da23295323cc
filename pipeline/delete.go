package pipeline

import (
	"context"

	"sluice/command"
)

type deleteParams struct {
	Name string `json:"name" required:"true" audit:"yes" doc:"The pipeline to delete."`

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
		})
}
