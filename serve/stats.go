package serve

import (
	"cmp"
	"context"

	"sluice"
	"sluice/command"
	"sluice/metrics"
)

type statsParams struct {
	Minutes int `json:"minutes" min:"1" max:"1440" doc:"Show this many of the last minutes. Default 60."`
}

const defaultMinutes = 60

func statsCommand(stats func(context.Context) (sluice.ServerStats, error), minutes *metrics.Minutes) command.Command {
	return command.New("server.stats", "Show what the server is doing: calls of the last minutes with their latency, what waits and what failed, engine and disk.",
		func(ctx context.Context, p statsParams) (sluice.ServerStats, error) {
			s, err := stats(ctx)
			if err != nil && s.Ready {
				return s, err
			}
			s.Minutes = minutes.Last(cmp.Or(p.Minutes, defaultMinutes))
			return s, nil
		}, command.ReadOnly)
}
