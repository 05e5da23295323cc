package pipeline

import (
	"context"

	"sluice"
	"sluice/command"
)

type putParams struct {
	Name   string `json:"name" required:"true" audit:"yes" doc:"Name of the pipeline: lower-case letters, digits, dots, _ and -."`
	Source string `json:"source" required:"true" body:"only" doc:"The pipeline as YAML or JSON."`
}

func putCommand(r *Runner) command.Command {
	return command.New("pipeline.put", "Store a pipeline under a name, in place of the one before. Events that it listens to reach it from then on.",
		func(ctx context.Context, p putParams) (view, error) {
			if err := checkName(p.Name); err != nil {
				return view{}, err
			}
			program, err := r.Parse(p.Source)
			if err != nil {
				return view{}, err
			}
			user := sluice.UserFrom(ctx)
			if err := program.mayListen(user); err != nil {
				return view{}, err
			}
			saved, rebound, err := r.save(ctx, program, sluice.Pipeline{Name: p.Name, Source: p.Source, Owner: user.Name, OwnerID: user.ID, Roles: user.Roles})
			if err != nil {
				return view{}, err
			}
			shown := r.show(saved)
			if rebound {
				shown.Warnings = []string{"It listens anew: events that still waited for the pipeline as it was are not run. Replay them where that matters."}
			}
			return shown, nil
		})
}
