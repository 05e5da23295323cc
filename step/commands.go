package step

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"unicode"

	"sluice"
	"sluice/command"
	"sluice/value"
)

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
