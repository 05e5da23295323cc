package step

import (
	"context"

	"sluice"
	"sluice/command"
)

type exitParams struct {
	Value any `json:"value" body:"default" doc:"What the pipeline answers."`
}

func exitCommand() command.Command {
	return command.New("exit", "End the pipeline here, with a value as its answer.",
		func(ctx context.Context, p exitParams) (any, error) {
			sluice.RunFrom(ctx).Exit()
			return p.Value, nil
		},
		command.Pure, command.InRun)
}
