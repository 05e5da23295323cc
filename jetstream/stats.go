package jetstream

import (
	"context"

	"sluice"
	"sluice/durable"
)

// Stats returns the state of the engine: all of a server's stats except its minutes. With an
// error, it has what is known all the same.
func (e *Engine) Stats(ctx context.Context) (sluice.ServerStats, error) {
	s := sluice.ServerStats{
		Ready:      true,
		Warnings:   e.Warnings(),
		Engine:     e.Description,
		FreeDisk:   -1,
		Pipelines:  []sluice.PipelineStats{},
		Unrecorded: e.Journal.Dropped(),
		Lost:       e.Stored.lost.Load(),
		Unreadable: e.Queue.Unreadable(),
		LostOthers: e.damage.others,
		CutOff:     e.damage.cutOff,
		SyncAge:    e.host.SyncAge(),
		RecordSize: e.budget.Used(),
		Unstored:   e.budget.Refused(),
		CutLetters: e.DeadLetters.Shares.Dropped(),
		CutResults: e.Queue.Outcomes.Shares.Dropped(),
		CutIDs:     e.once.Dropped(),
	}
	s.Offline, s.Behind = e.replicas.counts()
	if e.spool != nil {
		s.SyncAge = max(s.SyncAge, e.spool.SyncAge())
		spooled := e.spool.Stats(ctx)
		s.Spool = &spooled
	}
	if err := e.accepts(); err != nil {
		s.Ready, s.Problem = false, err.Error()
	}
	if err := e.host.Connected(); err != nil {
		return s, err
	}
	s.Webhooks = e.Webhooks.Count()
	if e.host.Dir != "" {
		free, err := durable.FreeSpace(e.host.Dir)
		if err != nil {
			return s, err
		}
		s.FreeDisk, s.FreeFiles = free.Bytes, free.Files
	}
	return s, e.countStored(ctx, &s)
}

// countStored adds how many events, results and dead letters there are, and what waits for pipelines.
func (e *Engine) countStored(ctx context.Context, s *sluice.ServerStats) error {
	events, err := e.Stored.stream.Info(ctx)
	if err != nil {
		return err
	}
	s.Events, s.EventBytes = int64(events.State.Msgs), int64(events.State.Bytes)
	results, err := e.Queue.Outcomes.Info(ctx)
	if err != nil {
		return err
	}
	s.Results = int64(results.State.Msgs)
	letters, err := e.DeadLetters.ByPipeline(ctx)
	if err != nil {
		return err
	}
	for _, count := range letters {
		s.DeadLetters += count
	}
	pipelines, err := e.Queue.Backlogs(ctx)
	for i := range pipelines {
		pipelines[i].DeadLetters = letters[pipelines[i].Pipeline]
	}
	s.Pipelines = append(s.Pipelines, pipelines...)
	return err
}

// Spooled returns how many calls wait in the spool.
func (e *Engine) Spooled() int64 {
	if e.spool == nil {
		return 0
	}
	return e.spool.Count()
}

// Unfinished says which calls are not done.
func (e *Engine) Unfinished(ctx context.Context) (sluice.Unfinished, error) {
	e.Journal.TellEnds(ctx)
	u, err := e.Queue.Unfinished(ctx)
	if e.spool != nil {
		if oldest := e.spool.Stats(ctx).Oldest; oldest != nil && (u.Since.IsZero() || oldest.Before(u.Since)) {
			u.Since = *oldest
		}
	}
	return u, err
}

// StoredBefore returns a function that reports whether a correlation id is that of an event which
// is stored already.
func (e *Engine) StoredBefore() func(correlationID string) bool {
	last := e.Stored.stream.Durable()
	return func(correlationID string) bool {
		found, ok := e.Stored.ids.Parse(correlationID)
		return ok && found.Sequence <= last
	}
}
