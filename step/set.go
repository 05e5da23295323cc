package step

import (
	"context"

	"sluice/command"
)

type setParams struct {
	Value any `json:"value" required:"true" doc:"The value."`
}

func setCommand() command.Command {
	return command.New("set", "Set a value: the body of the next step, or the variable that output names.",
		func(_ context.Context, p setParams) (any, error) { return p.Value, nil },
		command.Pure, command.InRun)
}
