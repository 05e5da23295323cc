package queue

import (
	"context"
	"errors"
	"math"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
)

// Backlogs returns what waits for each pipeline that listens.
func (q *Queue) Backlogs(ctx context.Context) ([]sluice.PipelineStats, error) {
	bound := q.listeners.Bound()
	var backlogs []sluice.PipelineStats
	consumers := q.events.ListConsumers(ctx)
	for info := range consumers.Info() {
		p := bound[info.Name]
		if p == nil {
			continue
		}
		b := sluice.PipelineStats{Pipeline: p.Name, Waiting: int64(info.NumPending) + int64(info.NumAckPending)}
		if b.Waiting > 0 {
			oldest, err := q.oldestUnfinished(ctx, info)
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

// FirstUnfinished returns the sequence up to which all pipelines are done.
func (q *Queue) FirstUnfinished(ctx context.Context) (uint64, error) {
	unfinished := uint64(math.MaxUint64)
	consumers := q.events.ListConsumers(ctx)
	for info := range consumers.Info() {
		oldest, err := q.oldestUnfinished(ctx, info)
		if err != nil {
			return 0, err
		}
		if oldest != nil {
			unfinished = min(unfinished, oldest.Sequence)
		}
	}
	return unfinished, consumers.Err()
}

// oldestUnfinished returns the first event that a consumer is not done with,
// nil if there is none.
func (q *Queue) oldestUnfinished(ctx context.Context, info *jetstream.ConsumerInfo) (oldest *jetstream.RawStreamMsg, err error) {
	behind := info.Delivered.Stream
	switch {
	case info.NumAckPending > 0:
		behind = info.AckFloor.Stream
	case info.NumPending == 0:
		return nil, nil
	}
	for _, subject := range info.Config.FilterSubjects {
		msg, err := q.events.GetMsg(ctx, behind+1, jetstream.WithGetMsgSubject(subject))
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
