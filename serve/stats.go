package serve

import (
	"context"

	"sluice"
	"sluice/command"
)

type statsParams struct {
	Minutes int `json:"minutes" min:"1" max:"1440" doc:"Tell about so many of the last minutes. Default 60."`
}

func statsCommand(r *rooms) command.Command {
	return command.New("server.stats", "Tell what the server is doing: calls of the last minutes with their latency, what waits and what failed, engine and disk.",
		func(ctx context.Context, p statsParams) (sluice.ServerStats, error) {
			s := sluice.ServerStats{Ready: true, Warnings: r.engine.Warnings(), Engine: r.engine.Describe(), Pipelines: []sluice.PipelineStats{}}
			if err := r.engine.Ready(); err != nil {
				s.Ready, s.Problem = false, err.Error()
			}
			held, err := r.engine.Stats(ctx)
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
			s.Minutes = r.lastMinutes(p.Minutes)
			return s, nil
		}, command.ReadOnly)
}

func (r *rooms) lastMinutes(count int) []sluice.MinuteFigures {
	if count == 0 {
		count = 60
	}
	last := r.minutes.Last(count)
	shown := make([]sluice.MinuteFigures, len(last))
	for i := range last {
		shown[i] = last[i].Figures()
	}
	return shown
}
