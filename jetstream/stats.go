package jetstream

import (
	"context"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/durable"
)

// Stats returns what the engine is doing and holds: all of a server's stats but
// its minutes. With an error, it has what could be found out.
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
	}
	s.Spool = e.spoolStats(ctx)
	if err := e.takes(); err != nil {
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
		s.FreeDisk = free
	}
	for _, count := range []struct {
		info        func(context.Context) (*jetstream.StreamInfo, error)
		messages    *int64
		bytesStored *int64
	}{
		{e.Stored.info, &s.Events, &s.EventBytes},
		{e.DeadLetters.Info, &s.DeadLetters, new(int64)},
		{e.outcomes.Info, &s.Results, new(int64)},
	} {
		info, err := count.info(ctx)
		if err != nil {
			return s, err
		}
		*count.messages, *count.bytesStored = int64(info.State.Msgs), int64(info.State.Bytes)
	}
	letters, err := e.DeadLetters.ByPipeline(ctx)
	if err != nil {
		return s, err
	}
	pipelines, err := e.Queue.Backlogs(ctx)
	for i := range pipelines {
		pipelines[i].DeadLetters = letters[pipelines[i].Pipeline]
	}
	s.Pipelines = append(s.Pipelines, pipelines...)
	return s, err
}
