package step

import (
	"context"
	"time"

	"sluice"
	"sluice/command"
)

type waitParams struct {
	Duration time.Duration `json:"duration" required:"true" max:"15m" doc:"How long."`
	Body     any           `json:"body" body:"default" doc:"Passed on."`
}

func waitCommand() command.Command {
	return command.New("wait", "Wait for a while, then pass the body on.",
		func(ctx context.Context, p waitParams) (any, error) {
			timer := time.NewTimer(p.Duration)
			defer timer.Stop()
			select {
			case <-timer.C:
				return p.Body, nil
			case <-ctx.Done():
				return nil, interrupted(ctx)
			}
		},
		command.Pure, command.InRun)
}

// interrupted is the error of a step whose context ended before the step was done.
func interrupted(ctx context.Context) error {
	return sluice.Errorf(sluice.CodeInterrupted, "The step was interrupted before it was done.").Because(context.Cause(ctx))
}
