package step

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"
	"unicode"

	"sluice"
	"sluice/wait"
)

type setParams struct {
	Value any `json:"value" required:"true" doc:"The value."`
}

func set(_ context.Context, p setParams) (any, error) { return p.Value, nil }

type assertParams struct {
	True    bool   `json:"true" required:"true" doc:"What must be true."`
	Message string `json:"message" doc:"What the error says if it is not, also to the caller of a webhook."`
	Body    any    `json:"body" body:"default" doc:"Passed on."`
}

func assert(_ context.Context, p assertParams) (any, error) {
	if p.True {
		return p.Body, nil
	}
	if p.Message == "" {
		return nil, sluice.CodeAssertionFailed.Errorf("What this pipeline asserts is not true.")
	}
	message := sluice.Shorten(p.Message, maxMessage)
	return nil, sluice.CodeAssertionFailed.Errorf("%s", message).Telling(sluice.Said{Message: message})
}

type exitParams struct {
	Value any `json:"value" body:"default" doc:"What the pipeline answers."`
}

func exit(ctx context.Context, p exitParams) (any, error) {
	sluice.RunFrom(ctx).Exited = true
	return p.Value, nil
}

type failParams struct {
	Message    string `json:"message" required:"true" doc:"What the error says, also to the caller of a webhook."`
	StatusCode *int   `json:"statusCode" min:"400" max:"599" doc:"HTTP status of the failure. Default 500."`
}

func fail(_ context.Context, p failParams) (any, error) {
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
}

type waitParams struct {
	Duration time.Duration `json:"duration" required:"true" max:"15m" doc:"How long."`
	Body     any           `json:"body" body:"default" doc:"Passed on."`
}

func waitFor(ctx context.Context, p waitParams) (any, error) {
	if wait.For(ctx, p.Duration) != nil {
		return nil, interrupted(ctx)
	}
	return p.Body, nil
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

func (o Options) log(ctx context.Context, p logParams) (any, error) {
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
	o.Log.LogAttrs(ctx, level, oneLine(sluice.Shorten(line, maxMessage)), slog.String("traceId", run.TraceID),
		slog.String("pipeline", run.Pipeline))
	return p.Body, nil
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
