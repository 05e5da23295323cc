package jetstream

import (
	"context"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/durable"
	"sluice/jetstream/queue"
)

// Stats is what the engine holds at a moment.
type Stats struct {
	FreeDisk    int64 // bytes; -1 with an external engine
	Events      int64
	EventBytes  int64
	DeadLetters int64
	Results     int64
	Webhooks    int
	Lost        int64 // events that the disk has lost, as far as that was found
	Unrecorded  int64 // entries that the journal had no space for, since the start
	Backlogs    []queue.Backlog
	Letters     map[string]int64 // dead letters, by pipeline
}

// Stats asks the engine what it holds.
func (e *Engine) Stats(ctx context.Context) (Stats, error) {
	s := Stats{FreeDisk: -1, Unrecorded: e.journal.Dropped()}
	if err := e.host.Connected(); err != nil {
		return s, err
	}
	s.Lost = e.events.lost.Load()
	s.Webhooks = e.webhooks.Count()
	if e.host.Embedded {
		free, err := durable.FreeSpace(e.opts.Dir)
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
		{e.events.info, &s.Events, &s.EventBytes},
		{e.deadLetters.Info, &s.DeadLetters, new(int64)},
		{e.outcomes.Info, &s.Results, new(int64)},
	} {
		info, err := count.info(ctx)
		if err != nil {
			return s, err
		}
		*count.messages, *count.bytesStored = int64(info.State.Msgs), int64(info.State.Bytes)
	}
	var err error
	if s.Letters, err = e.deadLetters.ByPipeline(ctx); err != nil {
		return s, err
	}
	s.Backlogs, err = e.queue.Backlogs(ctx)
	return s, err
}
