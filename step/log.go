package step

import (
	"context"
	"log/slog"
	"strings"
	"unicode"

	"sluice"
	"sluice/command"
)

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
