package jetstream

import (
	"context"
	"errors"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
)

// Stats gives what the engine is doing and holds: all of a server's stats but its
// minutes. With an error it is what could be told.
func (e *Engine) Stats(ctx context.Context) (sluice.ServerStats, error) {
	s := sluice.ServerStats{
		Ready:      true,
		Warnings:   e.Warnings(),
		Engine:     e.Describe(),
		FreeDisk:   -1,
		Pipelines:  []sluice.PipelineStats{},
		Unrecorded: e.journal.dropped.Load(),
	}
	if err := e.Ready(); err != nil {
		s.Ready, s.Problem = false, err.Error()
	}
	if err := e.connected(); err != nil {
		return s, err
	}
	s.Lost = e.events.damage.events.Load()
	s.Webhooks = e.webhooks.count()
	if e.server != nil {
		free, err := freeDisk(e.opts.Dir)
		if err != nil {
			return s, err
		}
		s.FreeDisk = free
	}
	for _, count := range []struct {
		stream      jetstream.Stream
		messages    *int64
		bytesStored *int64
	}{
		{e.events.stream, &s.Events, &s.EventBytes},
		{e.letters.stream, &s.DeadLetters, new(int64)},
		{e.events.outcomes.stream, &s.Results, new(int64)},
	} {
		info, err := count.stream.Info(ctx)
		if err != nil {
			return s, err
		}
		*count.messages, *count.bytesStored = int64(info.State.Msgs), int64(info.State.Bytes)
	}
	letters, err := e.letters.byPipeline(ctx)
	if err != nil {
		return s, err
	}
	pipelines, err := e.events.backlogs(ctx)
	for i := range pipelines {
		pipelines[i].DeadLetters = letters[pipelines[i].Pipeline]
	}
	s.Pipelines = append(s.Pipelines, pipelines...)
	return s, err
}

// byPipeline counts the letters of each pipeline.
func (l *Letters) byPipeline(ctx context.Context) (map[string]int64, error) {
	info, err := l.stream.Info(ctx, jetstream.WithSubjectFilter(letterPrefix+">"))
	if err != nil {
		return nil, err
	}
	counts := make(map[string]int64, len(info.State.Subjects))
	for subject, messages := range info.State.Subjects {
		counts[strings.TrimPrefix(subject, letterPrefix)] = int64(messages)
	}
	return counts, nil
}

// backlogs gives what waits for each pipeline that listens.
func (s *Events) backlogs(ctx context.Context) ([]sluice.PipelineStats, error) {
	bound := s.listeners.bound()
	var backlogs []sluice.PipelineStats
	consumers := s.stream.ListConsumers(ctx)
	for info := range consumers.Info() {
		name, ok := bound[info.Name]
		if !ok {
			continue
		}
		b := sluice.PipelineStats{Pipeline: name, Waiting: int64(info.NumPending) + int64(info.NumAckPending)}
		if b.Waiting > 0 {
			oldest, err := s.oldestUnfinished(ctx, info)
			if err != nil {
				return nil, err
			}
			if oldest != nil {
				b.Oldest = &oldest.Time
			}
		}
		backlogs = append(backlogs, b)
	}
	return backlogs, consumers.Err()
}

// oldestUnfinished gives the first event that a consumer is not done with, nil
// if there is none.
func (s *Events) oldestUnfinished(ctx context.Context, info *jetstream.ConsumerInfo) (oldest *jetstream.RawStreamMsg, err error) {
	behind := info.Delivered.Stream
	switch {
	case info.NumAckPending > 0:
		behind = info.AckFloor.Stream
	case info.NumPending == 0:
		return nil, nil
	}
	for _, subject := range info.Config.FilterSubjects {
		msg, err := s.stream.GetMsg(ctx, behind+1, jetstream.WithGetMsgSubject(subject))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if oldest == nil || msg.Sequence < oldest.Sequence {
			oldest = msg
		}
	}
	return oldest, nil
}
