package step

import (
	"context"
	"net/http"

	"sluice"
	"sluice/command"
)

type failParams struct {
	Message    string `json:"message" required:"true" doc:"What the error says, also to the caller of a webhook."`
	StatusCode *int   `json:"statusCode" min:"400" max:"599" doc:"HTTP status of the failure. Default 500."`
}

func failCommand() command.Command {
	return command.New("fail", "Fail with a message and a status.",
		func(_ context.Context, p failParams) (any, error) {
			status := http.StatusInternalServerError
			if p.StatusCode != nil {
				status = *p.StatusCode
			}
			kind := sluice.Internal
			if status < http.StatusInternalServerError {
				kind = sluice.Invalid
			}
			message := cut(p.Message, maxMessage)
			return nil, sluice.Errorf(sluice.CodeFailed, "%s", message).OfKind(kind).WithStatus(status).
				Telling(sluice.Said{Message: message, StatusCode: status})
		},
		command.Pure, command.InRun)
}
