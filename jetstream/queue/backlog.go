package queue

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
)

// Backlogs returns what waits for each pipeline that listens. With an error it returns
// the backlogs that are known.
func (q *Queue) Backlogs(ctx context.Context) ([]sluice.PipelineStats, error) {
	bound := q.listeners.Bound()
	states, untold := q.states(ctx, bound)
	var backlogs []sluice.PipelineStats
	for id, info := range states {
		p := bound[id]
		if p == nil || info == nil {
			continue
		}
		b := sluice.PipelineStats{Pipeline: p.Name, Waiting: int64(info.NumPending) + int64(info.NumAckPending)}
		if b.Waiting > 0 {
			oldest, err := q.oldestUnfinished(ctx, info)
			if err != nil {
				return backlogs, err
			}
			if oldest != nil {
				b.Oldest = &oldest.Time
			}
			if b.Unbegun, err = q.unbegun(ctx, info, p.Binding.Concurrency); err != nil {
				return backlogs, err
			}
		}
		if count, retrying, since := q.waiting.count(id); count > 0 {
			b.Waiting += int64(count)
			b.Retrying = int64(retrying)
			if b.Oldest == nil || !since.IsZero() && since.Before(*b.Oldest) {
				b.Oldest = &since
			}
		}
		backlogs = append(backlogs, b)
	}
	return backlogs, untold
}

// unbegun returns since when the oldest event waits that a pipeline has not begun with. Of the
// events that were handed out, those beyond the runs at the same time wait too, at least since
// the last was handed out. How many nodes run them is not known with an external engine.
func (q *Queue) unbegun(ctx context.Context, info *jetstream.ConsumerInfo, concurrency int) (*time.Time, error) {
	if q.host.SoleWriter && info.NumAckPending > concurrency && info.Delivered.Last != nil {
		return info.Delivered.Last, nil
	}
	if info.NumPending == 0 {
		return nil, nil
	}
	next := *info
	next.NumAckPending = 0 // what was handed out has begun
	oldest, err := q.oldestUnfinished(ctx, &next)
	if oldest == nil || err != nil {
		return nil, err
	}
	return &oldest.Time, nil
}
