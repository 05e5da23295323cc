package step

import (
	"context"

	"sluice"
	"sluice/command"
)

type assertParams struct {
	True    bool   `json:"true" required:"true" doc:"What must be true."`
	Message string `json:"message" doc:"What the error says if it is not, also to the caller of a webhook."`
	Body    any    `json:"body" body:"default" doc:"Passed on."`
}

func assertCommand() command.Command {
	return command.New("assert", "Fail unless something is true; otherwise pass the body on.",
		func(_ context.Context, p assertParams) (any, error) {
			if p.True {
				return p.Body, nil
			}
			if p.Message == "" {
				return nil, sluice.Errorf(sluice.CodeAssertionFailed, "What this pipeline asserts is not true.")
			}
			message := cut(p.Message, maxMessage)
			return nil, sluice.Errorf(sluice.CodeAssertionFailed, "%s", message).Telling(sluice.Said{Message: message})
		},
		command.Pure, command.InRun)
}
