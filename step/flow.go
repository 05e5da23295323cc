package step

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"
	"unicode"

	"sluice"
	"sluice/command"
	"sluice/wait"
)

type setParams struct {
	Value any `json:"value" required:"true" doc:"The value."`
}

func setCommand() command.Command {
	return command.New("set", "Set a value: the body of the next step, or the variable that output names.",
		func(_ context.Context, p setParams) (any, error) { return p.Value, nil },
		command.Pure, command.InRun)
}

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
				return nil, sluice.CodeAssertionFailed.Errorf("What this pipeline asserts is not true.")
			}
			message := sluice.Shorten(p.Message, maxMessage)
			return nil, sluice.CodeAssertionFailed.Errorf("%s", message).Telling(sluice.Said{Message: message})
		},
		command.Pure, command.InRun)
}

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
			message := sluice.Shorten(p.Message, maxMessage)
			return nil, sluice.CodeFailed.Errorf("%s", message).OfKind(kind).WithStatus(status).
				Telling(sluice.Said{Message: message, StatusCode: status})
		},
		command.Pure, command.InRun)
}

type waitParams struct {
	Duration time.Duration `json:"duration" required:"true" max:"15m" doc:"How long."`
	Body     any           `json:"body" body:"default" doc:"Passed on."`
}

func waitCommand() command.Command {
	return command.New("wait", "Wait for a while, then pass the body on.",
		func(ctx context.Context, p waitParams) (any, error) {
			if wait.For(ctx, p.Duration) != nil {
				return nil, interrupted(ctx)
			}
			return p.Body, nil
		},
		command.Pure, command.InRun)
}

func interrupted(ctx context.Context) error {
	return sluice.CodeInterrupted.Errorf("The step was interrupted before it was done.").
		Because(context.Cause(ctx))
}

// maxMessage is how many bytes of a message reach the log or an error.
const maxMessage = 8 << 10

type logParams struct {
	Message any    `json:"message" doc:"What to log. Default the body, as JSON."`
	Level   string `json:"level" enum:"debug,info,warn,error" doc:"How important it is. Default info."`
	Body    any    `json:"body" body:"default" doc:"Passed on."`
}

func logCommand(log *slog.Logger) command.Command {
	return command.New("log", "Write a line to the server's log, and pass the body on.",
		func(ctx context.Context, p logParams) (any, error) {
			line, err := textOrJSON(p.Message)
			if p.Message == nil {
				line, err = encodeJSON(p.Body)
			}
			if err != nil {
				return nil, err
			}
			var level slog.Level // info, unless one is given
			if p.Level != "" {
				if err := level.UnmarshalText([]byte(p.Level)); err != nil {
					return nil, err
				}
			}
			run := sluice.RunFrom(ctx)
			log.LogAttrs(ctx, level, oneLine(sluice.Shorten(line, maxMessage)), slog.String("traceId", run.TraceID),
				slog.String("pipeline", run.Pipeline))
			return p.Body, nil
		},
		command.Pure, command.InRun)
}

// oneLine keeps a payload from forging log lines or controlling the terminal.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}
