package serve

import (
	"cmp"
	"context"
	"slices"
	"time"

	"sluice"
)

type statsParams struct {
	Minutes int `json:"minutes" min:"1" max:"1440" doc:"Show this many of the last minutes. Default 60."`
	Hours   int `json:"hours" min:"1" max:"720" doc:"Also show this many of the last hours."`
}

const defaultMinutes = 60

func (s *Server) serverStats(ctx context.Context, p statsParams) (sluice.ServerStats, error) {
	stats, err := s.stateOf(ctx)
	if err != nil && stats.Ready {
		return stats, err
	}
	stats.Minutes = s.minutes.Last(ctx, cmp.Or(p.Minutes, defaultMinutes))
	if p.Hours > 0 {
		stats.Hours = s.minutes.LastHours(ctx, p.Hours)
	}
	return stats, nil
}

type webhookStatsParams struct {
	EventKey string `json:"eventKey" names:"listed" doc:"Show only the webhook with this key."`
	Hours    int    `json:"hours" min:"1" max:"720" doc:"Over this many of the last hours. Default 24."`
	Limit    int    `json:"limit" min:"1" max:"1000" doc:"At most this many webhooks, those with most calls. Default 100."`
	Figures  bool   `json:"figures" doc:"Show what became of the calls of each hour as well, as for one webhook."`
}

const (
	defaultHours    = 24
	defaultWebhooks = 100
)

func (s *Server) webhookStats(ctx context.Context, p webhookStatsParams) ([]sluice.WebhookStats, error) {
	cover := sluice.CoverFrom(ctx)
	all := slices.DeleteFunc(s.minutes.Webhooks(ctx, cmp.Or(p.Hours, defaultHours), p.EventKey),
		func(of sluice.WebhookStats) bool { return !cover.Event(of.EventKey) })
	all = all[:min(len(all), cmp.Or(p.Limit, defaultWebhooks))]
	for i := range all {
		if p.EventKey == "" && !p.Figures {
			all[i].Figures = nil
		}
		for j := range all[i].Types {
			kind := &all[i].Types[j]
			names := s.engine.Queue.Listeners.Of(sluice.EventPrefix+all[i].EventKey, kind.Type)
			countListeners(kind, names, cover)
		}
	}
	return all, nil
}

// countListeners says how many pipelines take a kind of events, as far as a user may know.
func countListeners(kind *sluice.TypeStats, names []string, cover sluice.Cover) {
	n := 0
	for _, name := range names {
		if cover.Name(name) {
			n++
		}
	}
	if kind.Type != sluice.OtherTypes && (n > 0 || cover.Whole()) {
		kind.Listeners = &n
	}
}

type pipelineStatsParams struct {
	Name  string `json:"name" names:"listed" doc:"Show only the pipeline of this name."`
	Hours int    `json:"hours" min:"1" max:"720" doc:"Over this many of the last hours. Default 24."`
}

func (s *Server) pipelineStats(ctx context.Context, p pipelineStatsParams) (sluice.PipelineRuns, error) {
	cover := sluice.CoverFrom(ctx)
	counts := func(name string) bool { return (p.Name == "" || name == p.Name) && cover.Name(name) }
	runs := s.minutes.Runs(ctx, counts, cmp.Or(p.Hours, defaultHours))
	now, err := s.stateOf(ctx)
	runs.Pipeline = p.Name
	runs.Pipelines = slices.DeleteFunc(now.Pipelines,
		func(of sluice.PipelineStats) bool { return !counts(of.Pipeline) })
	return runs, err
}

// stats returns the state of the server for the metrics.
func (s *Server) stats() sluice.ServerStats {
	const timeout = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	stats, err := s.stateOf(ctx)
	if err != nil {
		s.Log.Warn("The metrics of the engine can't be read.", "error", err)
	}
	return stats
}

// stateOf returns the state of the engine, and which pipelines fail.
func (s *Server) stateOf(ctx context.Context) (sluice.ServerStats, error) {
	stats, err := s.engine.Stats(ctx)
	stats.Warnings = append(stats.Warnings, s.certificateWarnings()...)
	stats.Unkept = s.keeper.Missed() + s.engine.Quarantine.PushedOut()
	stats.Alerts, stats.Work = s.alerts.Open(), s.engine.Queue.Waiting.Work.Queues()
	for i := range stats.Pipelines {
		of := &stats.Pipelines[i]
		if p, _ := s.engine.Pipelines.Get(ctx, of.Pipeline); p != nil {
			of.Failing = s.failing.Since(p)
		}
		if of.Failing != nil || of.Retrying > 0 || of.DeadLetters > 0 {
			of.Cause = s.failing.Cause(of.Pipeline)
		}
	}
	return stats, err
}
