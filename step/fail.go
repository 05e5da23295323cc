package step

import (
	"context"
	"net/http"

	"sluice"
	"sluice/command"
)

type failParams struct {
	Message    string `json:"message" required:"true" doc:"What the error says."`
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
			return nil, sluice.Errorf(kind, "failed", "%s", cut(p.Message, maxMessage)).WithStatus(status)
		},
		command.Pure, command.InRun)
}
