package serve

import (
	"context"

	"sluice"
	"sluice/command"
	"sluice/jetstream"
	"sluice/metrics"
)

type statsParams struct {
	Minutes int `json:"minutes" min:"1" max:"1440" doc:"Tell about so many of the last minutes. Default 60."`
}

func statsCommand(engine *jetstream.Engine, minutes *metrics.Minutes) command.Command {
	return command.New("server.stats", "Tell what the server is doing: calls of the last minutes with their latency, what waits and what failed, engine and disk.",
		func(ctx context.Context, p statsParams) (sluice.ServerStats, error) {
			s := sluice.ServerStats{Ready: true, Warnings: engine.Warnings(), Engine: engine.Describe(), Pipelines: []sluice.PipelineStats{}}
			if err := engine.Ready(); err != nil {
				s.Ready, s.Problem = false, err.Error()
			}
			held, err := engine.Stats(ctx)
			if err != nil && s.Ready {
				return s, err
			}
			s.FreeDisk, s.Events, s.EventBytes = held.FreeDisk, held.Events, held.EventBytes
			s.DeadLetters, s.Results, s.Webhooks = held.DeadLetters, held.Results, held.Webhooks
			for _, b := range held.Backlogs {
				shown := sluice.PipelineStats{Pipeline: b.Pipeline, Waiting: b.Events, DeadLetters: held.Letters[b.Pipeline]}
				if !b.Oldest.IsZero() {
					shown.Oldest = &b.Oldest
				}
				s.Pipelines = append(s.Pipelines, shown)
			}
			s.Minutes = lastMinutes(minutes, p.Minutes)
			return s, nil
		}, command.ReadOnly)
}

func lastMinutes(minutes *metrics.Minutes, count int) []sluice.MinuteFigures {
	if count == 0 {
		count = 60
	}
	last := minutes.Last(count)
	shown := make([]sluice.MinuteFigures, len(last))
	for i := range last {
		shown[i] = last[i].Figures()
	}
	return shown
}
