package queue

import (
	"context"
	"slices"
	"strings"
	"time"
	"unique"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/correlation"
)

// Backlogs returns what waits for each pipeline that listens, by name. With an error it returns
// the backlogs that are known.
func (q *Queue) Backlogs(ctx context.Context) ([]sluice.PipelineStats, error) {
	bound := q.Listeners.Bound()
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
		count, retrying, since := q.Waiting.counts(id)
		b.Waiting += int64(count)
		b.Retrying = int64(retrying)
		if !since.IsZero() && (b.Oldest == nil || since.Before(*b.Oldest)) {
			b.Oldest = &since
		}
		backlogs = append(backlogs, b)
	}
	slices.SortFunc(backlogs, func(a, b sluice.PipelineStats) int { return strings.Compare(a.Pipeline, b.Pipeline) })
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

// Unfinished says which calls are not done.
func (q *Queue) Unfinished(ctx context.Context) (u sluice.Unfinished, err error) {
	since := func(at time.Time) {
		if u.Since.IsZero() || at.Before(u.Since) {
			u.Since = at
		}
	}
	bound := q.Listeners.Bound()
	states, err := q.states(ctx, bound)
	if err != nil {
		return u, err
	}
	for id := range bound {
		oldest, err := q.oldestCall(ctx, states[id])
		if err != nil {
			return u, err
		}
		if !oldest.IsZero() {
			since(oldest)
		}
	}
	waiting, oldest := q.Waiting.calls()
	if u.Retrying = waiting; !oldest.IsZero() {
		since(oldest)
	}
	return u, nil
}

// oldestCall returns when the first event came that a consumer is not done with, zero if
// there is none. A lost consumer may not be done with any.
func (q *Queue) oldestCall(ctx context.Context, info *jetstream.ConsumerInfo) (time.Time, error) {
	if info == nil {
		return time.Unix(0, 0), nil
	}
	msg, err := q.oldestUnfinished(ctx, info)
	if msg == nil || err != nil {
		return time.Time{}, err
	}
	if e, err := correlation.ReadEnvelope(msg); err == nil {
		if at, ok := sluice.TraceTime(e.TraceID); ok && at.Before(e.Received) {
			return at, nil // of the call that has set it off
		}
		return e.Received, nil
	}
	return msg.Time, nil
}

// calls returns how many calls are tried again, by minute and key, each call once: several pipelines
// may have failed on it; and when the oldest came of all that wait, for whatever.
func (w *Waiting) calls() (calls []sluice.WaitingCall, oldest time.Time) {
	type group struct {
		key    unique.Handle[string]
		minute moment
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	first, counts, seen := moment(0), make(map[group]int), make(map[uint64]struct{})
	for _, l := range w.lines {
		for e := range l.all() {
			if e.Call != 0 && (first == 0 || e.Call < first) {
				first = e.Call
			}
			if !e.retries() || e.Call == 0 {
				continue
			}
			if _, known := seen[e.nonce]; !known { // what a call has set off has its trace id
				seen[e.nonce] = struct{}{}
				counts[group{e.eventKey, e.Call - e.Call%moment(time.Minute)}]++
			}
		}
	}
	for of, count := range counts {
		calls = append(calls, sluice.WaitingCall{EventKey: of.key.Value(), Time: of.minute.time(), Count: count})
	}
	return calls, first.time()
}
