package event

import (
	"context"

	"sluice"
	"sluice/command"
)

type erasuresParams struct {
	Limit int    `json:"limit" min:"1" max:"10000" doc:"List at most this many; the Link header leads to the next page."`
	After string `json:"after" doc:"List only those whose trace id comes after this one."`
}

func erasuresCommand(o Options) command.Command {
	return command.New("event.erasures", "List what was erased, by trace id, for sluice restore --erasures.",
		func(_ context.Context, p erasuresParams) (any, error) {
			traceID := func(e sluice.Erasure) string { return e.TraceID }
			whole := func(e sluice.Erasure) sluice.Erasure { return e }
			return command.PageOf(o.Erasures.List(), traceID, whole, command.Filter{After: p.After, Limit: p.Limit}),
				nil
		}, command.ReadOnly, command.Global, command.Answers([]sluice.Erasure{}))
}
