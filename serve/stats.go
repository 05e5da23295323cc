package serve

import (
	"context"
	"time"

	"sluice/command"
)

type statsParams struct {
	Minutes int `json:"minutes" min:"1" max:"1440" doc:"Tell about so many of the last minutes. Default 60."`
}

// stats is what the server is doing.
type stats struct {
	Ready       bool      `json:"ready"`
	Problem     string    `json:"problem,omitempty"` // why it is not ready
	Warnings    []string  `json:"warnings,omitempty"`
	Engine      string    `json:"engine"`
	FreeDisk    int64     `json:"freeDisk"` // bytes; -1 with an external engine
	Events      int64     `json:"events"`
	EventBytes  int64     `json:"eventBytes"`
	DeadLetters int64     `json:"deadLetters"`
	Results     int64     `json:"results"`
	Webhooks    int       `json:"webhooks"`
	Pipelines   []backlog `json:"pipelines"`
	Minutes     []minute  `json:"minutes"`
}

// A backlog is what a pipeline has not finished, or failed on.
type backlog struct {
	Pipeline    string     `json:"pipeline"`
	Waiting     int64      `json:"waiting"`
	Oldest      *time.Time `json:"oldest,omitempty"` // of those that wait
	DeadLetters int64      `json:"deadLetters"`
}

// A minute tells of the calls of a minute. Times are in milliseconds.
type minute struct {
	Time      time.Time `json:"time"`
	Accepted  int       `json:"accepted"`
	Refused   int       `json:"refused"`
	Failed    int       `json:"failed"`
	Runs      int       `json:"runs"`
	RunErrors int       `json:"runErrors"`
	P50       float64   `json:"p50"`
	P99       float64   `json:"p99"`
}

func statsCommand(r *rooms) command.Command {
	return command.New("server.stats", "Tell what the server is doing: calls of the last minutes with their latency, what waits and what failed, engine and disk.",
		func(ctx context.Context, p statsParams) (stats, error) {
			s := stats{Ready: true, Warnings: r.engine.Warnings(), Engine: r.engine.Describe(), Pipelines: []backlog{}}
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
				shown := backlog{Pipeline: b.Pipeline, Waiting: b.Events, DeadLetters: held.Letters[b.Pipeline]}
				if !b.Oldest.IsZero() {
					shown.Oldest = &b.Oldest
				}
				s.Pipelines = append(s.Pipelines, shown)
			}
			s.Minutes = r.lastMinutes(p.Minutes)
			return s, nil
		}, command.ReadOnly)
}

func (r *rooms) lastMinutes(count int) []minute {
	if count == 0 {
		count = 60
	}
	last := r.minutes.Last(count)
	shown := make([]minute, len(last))
	for i := range last {
		m := &last[i]
		shown[i] = minute{
			Time: m.Start, Accepted: m.Accepted, Refused: m.Refused, Failed: m.Failed, Runs: m.Runs, RunErrors: m.RunErrors,
			P50: milliseconds(m.Quantile(0.5)), P99: milliseconds(m.Quantile(0.99)),
		}
	}
	return shown
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
