package queue

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/stream"
	"sluice/problem"
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

// states returns what the engine knows of each consumer, bound or not, and nil for a
// bound one that it has lost. In a cluster a list silently leaves out each consumer that
// has no leader at the moment, so a missing one is asked for by itself. With an error,
// the states are those of the consumers that replied.
func (q *Queue) states(ctx context.Context, bound map[string]*sluice.Pipeline) (map[string]*jetstream.ConsumerInfo, error) {
	states := make(map[string]*jetstream.ConsumerInfo, len(bound))
	list := q.events.ListConsumers(ctx)
	for info := range list.Info() {
		states[info.Name] = info
	}
	untold := list.Err()
	for id, p := range bound {
		if _, listed := states[id]; listed {
			continue
		}
		consumer, err := q.events.Consumer(ctx, id)
		switch {
		case err == nil:
			states[id] = consumer.CachedInfo()
		case errors.Is(err, jetstream.ErrConsumerNotFound):
			states[id] = nil
		default:
			return states, fmt.Errorf("how far the pipeline %s is can't be told: %w", p.Name, err)
		}
	}
	return states, untold
}

// FirstUnfinished returns the first event that a pipeline may not be done with. It
// stops looking once that is not above least.
func (q *Queue) FirstUnfinished(ctx context.Context, least uint64) (uint64, error) {
	// A pipeline that another node has just stored counts as well.
	if err := q.listeners.pipelines.CatchUp(ctx); err != nil {
		return 0, err
	}
	bound := q.listeners.Bound()
	states, err := q.states(ctx, bound)
	if err != nil {
		return 0, err
	}
	unfinished := uint64(math.MaxUint64)
	for id, info := range states {
		if unfinished <= least {
			break
		}
		if info == nil { // the consumer is about to be made again, and goes on from the low-water mark
			unfinished = min(unfinished, max(q.lowWater.Of(id)+1, bound[id].Binding.Start))
			continue
		}
		oldest, err := q.oldestUnfinished(ctx, info)
		if err != nil {
			return 0, err
		}
		if oldest != nil {
			unfinished = min(unfinished, oldest.Sequence)
		}
	}
	return unfinished, nil
}

// oldestUnfinished returns the first event that a consumer is not done with,
// nil if there is none.
func (q *Queue) oldestUnfinished(ctx context.Context, info *jetstream.ConsumerInfo) (oldest *jetstream.RawStreamMsg, err error) {
	behind := info.Delivered.Stream
	switch {
	case info.NumAckPending > 0:
		behind = info.AckFloor.Stream
	case info.NumPending == 0 && q.host.DirectReads:
		// In a cluster, where the newest events may not have reached the consumer's
		// server yet, only the leader of the stream knows that none follow.
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

// Retries reports whether an event waits for another attempt of a pipeline, or is in
// it, and when that is due; zero while it runs.
func (q *Queue) Retries(ctx context.Context, e correlation.Envelope, pipeline string) (retries bool, next time.Time, err error) {
	binding := q.listeners.Binding(pipeline)
	if binding == nil {
		return false, next, nil
	}
	s, err := q.waiting.find(ctx, binding.ID, eventKey(q.ids, e.Sequence, e.TraceID))
	if s == nil || s.Attempts == 0 || err != nil {
		return false, next, err
	}
	if s.Node == "" && s.Due.After(q.waiting.now()) {
		next = s.Due
	}
	return true, next, nil
}

// Outcome returns what a pipeline has made of an event: nil if it is not done
// yet, Gone if the outcome has expired.
func (q *Queue) Outcome(ctx context.Context, e correlation.Envelope, pipeline string) (*sluice.Outcome, error) {
	outcome, err := q.outcomes.Get(ctx, e.Sequence, e.TraceID, pipeline)
	if errors.Is(err, errUnsynced) {
		return nil, nil
	}
	if outcome != nil {
		if _, early := q.unlettered.Load(q.outcomes.subject(e.Sequence, e.TraceID, pipeline)); early {
			return nil, nil
		}
	}
	if outcome != nil || err != nil {
		return outcome, err
	}
	binding := q.listeners.Binding(pipeline)
	listens := binding != nil && e.Sequence >= binding.Start && reaches(binding, e.Subject)
	switch {
	case listens:
		finished, err := q.finished(ctx, binding.ID, e.Sequence)
		if err != nil || !finished {
			return nil, err
		}
		// It may be acknowledged and wait for another attempt.
		waits, err := q.waiting.find(ctx, binding.ID, eventKey(q.ids, e.Sequence, e.TraceID))
		if err != nil || waits != nil {
			return nil, err
		}
	case q.work.includes(pipeline, e.Sequence):
		return nil, nil
	}
	// It may have finished after the first Get.
	outcome, err = q.outcomes.Get(ctx, e.Sequence, e.TraceID, pipeline)
	switch {
	case errors.Is(err, errUnsynced):
		return nil, nil
	case outcome != nil || err != nil:
		return outcome, err
	case listens || time.Since(e.Received) > q.outcomes.keep.Age:
		return nil, Gone()
	}
	return unhandled(pipeline, e), nil
}

// unhandled is the outcome of an event whose pipeline was deleted, or listens to other
// events, before it ran.
func unhandled(pipeline string, e correlation.Envelope) *sluice.Outcome {
	err := sluice.Errorf(sluice.CodePipelineGone, "The pipeline %s was deleted or listens to other events by now.", pipeline)
	shown := problem.Of(err.InCall(e.TraceID))
	said := &sluice.Said{Message: "What was to handle the call was removed before it came to that.", StatusCode: shown.Status, Code: err.Code}
	return &sluice.Outcome{Pipeline: pipeline, Status: sluice.StatusError, StatusCode: shown.Status, Error: shown, Said: said, Finished: e.Received}
}

// Gone is the error of a result that is no longer kept, or never was.
func Gone() error {
	return sluice.Errorf(sluice.CodeResultGone, "There is no result with this correlation id, or it has expired.")
}

// Bounds of the cache of consumers' states, so that not every poll asks the engine.
const (
	progressAge = 250 * time.Millisecond
	maxProgress = 10_000 // bindings
)

// finished reports whether a pipeline is done with the event with a sequence.
// It may still report false for a moment after that.
func (q *Queue) finished(ctx context.Context, binding string, sequence uint64) (bool, error) {
	info, ok := q.progress.Get(binding, time.Now())
	if !ok {
		consumer, err := q.events.Consumer(ctx, binding)
		if errors.Is(err, jetstream.ErrConsumerNotFound) {
			return false, nil // it is about to be made again
		}
		if err != nil {
			return false, stream.NoAnswer(err)
		}
		info = consumer.CachedInfo()
		q.progress.Put(binding, info, time.Now().Add(progressAge))
	}
	return sequence <= info.AckFloor.Stream || info.NumAckPending == 0 && sequence <= info.Delivered.Stream, nil
}
