package queue

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
)

// states returns what the engine knows of each consumer, bound or not, and nil for a
// bound one that it has lost. In a cluster a list silently leaves out each consumer that
// has no leader at the moment, so a missing one is asked for by itself. With an error,
// the states are those of the consumers that replied.
func (q *Queue) states(
	ctx context.Context, bound map[string]*sluice.Pipeline,
) (map[string]*jetstream.ConsumerInfo, error) {
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
	if err := q.Listeners.pipelines.CatchUp(ctx); err != nil {
		return 0, err
	}
	bound := q.Listeners.Bound()
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
			unfinished = min(unfinished, max(q.LowWater.Of(id)+1, bound[id].Binding.Start))
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
func (q *Queue) oldestUnfinished(
	ctx context.Context, info *jetstream.ConsumerInfo,
) (oldest *jetstream.RawStreamMsg, err error) {
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
		msg, err := stream.Found(q.events.GetMsg(ctx, behind+1, jetstream.WithGetMsgSubject(subject)))
		if err != nil {
			return nil, err
		}
		if msg != nil && (oldest == nil || msg.Sequence < oldest.Sequence) {
			oldest = msg
		}
	}
	return oldest, nil
}

// newest returns the last event that a binding is for. Others don't count: a consumer does not
// notice them, and would never be done with them.
func (q *Queue) newest(ctx context.Context, binding string) (event uint64, err error) {
	consumer, err := q.events.Consumer(ctx, binding)
	if err != nil {
		return 0, stream.NoAnswer(err)
	}
	for _, subject := range consumer.CachedInfo().Config.FilterSubjects {
		msg, err := stream.Found(q.events.GetLastMsgForSubject(ctx, subject))
		if err != nil {
			return 0, err
		}
		if msg != nil {
			event = max(event, msg.Sequence)
		}
	}
	return event, nil
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
