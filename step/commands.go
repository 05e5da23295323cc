// Package step has the small built-in steps of pipelines: convert.*, crypto.*,
// set, log, assert, fail, exit, wait, http.request, http.forward and secret.*,
// one command to a file. It also has the store of sealed secrets, and the
// conversions and hashes as functions for expressions.
//
// Package pipeline runs the steps; the root package defines what a run is.
package step

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"sluice"
	"sluice/command"
	"sluice/value"
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
				return nil, sluice.Errorf(sluice.CodeAssertionFailed, "What this pipeline asserts is not true.")
			}
			message := cut(p.Message, maxMessage)
			return nil, sluice.Errorf(sluice.CodeAssertionFailed, "%s", message).Telling(sluice.Said{Message: message})
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
			message := cut(p.Message, maxMessage)
			return nil, sluice.Errorf(sluice.CodeFailed, "%s", message).OfKind(kind).WithStatus(status).
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

func interrupted(ctx context.Context) error {
	return sluice.Errorf(sluice.CodeInterrupted, "The step was interrupted before it was done.").Because(context.Cause(ctx))
}

// Options are what the steps need.
type Options struct {
	Log     *slog.Logger // of the command log; nil discards what it writes
	Secrets *Secrets
	UsersOf func(secret string) SecretUsers // nil: there are none
	HTTP    HTTPOptions
	Mail    MailOptions
}

// Commands returns the built-in steps.
func Commands(o Options) []command.Command {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.UsersOf == nil {
		o.UsersOf = func(string) SecretUsers { return SecretUsers{} }
	}
	client := newClient(o.HTTP)
	return slices.Concat(convertCommands(), []command.Command{
		hashCommand(),
		hmacCommand(),
		setCommand(),
		logCommand(o.Log),
		assertCommand(),
		failCommand(),
		exitCommand(),
		waitCommand(),
		requestCommand(client),
		forwardCommand(client),
		mailCommand(o.Mail),
		secretPutCommand(o.Secrets),
		secretGetCommand(o.Secrets, o.UsersOf),
		secretDeleteCommand(o.Secrets, o.UsersOf),
	})
}

// A function can be called by expressions.
type function struct {
	least, most int // number of arguments
	call        func(args []any) (any, error)
}

// Functions returns the functions for expressions: the conversions, crypto.hash and
// crypto.hmac, named as their commands, and crypto.equal. A conversion takes its input,
// and a charset if the command has one. Errors are of type *sluice.Error.
func Functions() map[string]func(args ...any) (any, error) {
	all := map[string]function{
		"crypto.hash":  {1, 3, hashFunction},
		"crypto.hmac":  {2, 4, hmacFunction},
		"crypto.equal": {2, 2, equalFunction},
	}
	for _, c := range conversions {
		all[c.name] = c.function()
	}
	functions := make(map[string]func(args ...any) (any, error), len(all))
	for name, f := range all {
		functions[name] = func(args ...any) (any, error) {
			if len(args) < f.least || len(args) > f.most {
				return nil, sluice.Errorf(sluice.CodeArgumentsInvalid, "%s takes %s, not %d.", name, f.takes(), len(args))
			}
			out, err := f.call(args)
			if err != nil {
				return nil, sluice.AsError(err)
			}
			return out, nil
		}
	}
	return functions
}

// takes says how many arguments a function takes.
func (f function) takes() string {
	numbers := [...]string{"no", "one", "two", "three", "four"}
	switch {
	case f.least != f.most:
		return numbers[f.least] + " to " + numbers[f.most] + " arguments"
	case f.least == 1:
		return "one argument"
	}
	return numbers[f.least] + " arguments"
}

func (c conversion) function() function {
	if c.convert != nil {
		return function{1, 1, func(args []any) (any, error) { return c.convert(args[0]) }}
	}
	return function{1, 2, func(args []any) (any, error) {
		charset, err := optional(args, 1, "charset")
		if err != nil {
			return nil, err
		}
		return c.charset(args[0], charset)
	}}
}

// optional returns the text argument at an index, "" if there is none.
func optional(args []any, index int, name string) (string, error) {
	if index >= len(args) || args[index] == nil {
		return "", nil
	}
	text, ok := args[index].(string)
	if !ok {
		return "", invalid(name, "must be text, not %s", value.Describe(args[index]))
	}
	return text, nil
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
			log.LogAttrs(ctx, level, oneLine(cut(line, maxMessage)), slog.String("traceId", run.TraceID), slog.String("pipeline", run.Pipeline))
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
