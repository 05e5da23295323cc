package queue

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/stream"
	"sluice/problem"
)

// Outcome returns what a pipeline has made of an event: nil if it is not done
// yet, Gone if the outcome has expired.
func (q *Queue) Outcome(ctx context.Context, e correlation.Envelope, pipeline string) (*sluice.Outcome, error) {
	outcome, err := q.outcomes.Get(ctx, e.Sequence, e.TraceID, pipeline)
	if outcome != nil || err != nil {
		return outcome, err
	}
	binding := q.listeners.Binding(pipeline)
	if binding == nil || e.Sequence < binding.Start || !reaches(binding, e.Subject) {
		if time.Since(e.Received) > q.outcomes.keep.Age {
			return nil, Gone()
		}
		return abandoned(pipeline, e), nil
	}
	finished, err := q.finished(ctx, binding.ID, e.Sequence)
	if err != nil || !finished {
		return nil, err
	}
	// It may be acknowledged because it waits for another attempt.
	waits, err := q.waiting.find(ctx, binding.ID, q.waiting.key(e.Sequence, e.TraceID))
	if err != nil || waits != nil {
		return nil, err
	}
	// It may have finished after the first look.
	outcome, err = q.outcomes.Get(ctx, e.Sequence, e.TraceID, pipeline)
	if outcome == nil && err == nil {
		err = Gone()
	}
	return outcome, err
}

// Takers returns the names of the pipelines that take an event which does not say so
// itself.
func (q *Queue) Takers(e correlation.Envelope) []string { return q.listeners.Takers(e) }

// abandoned is the outcome of an event whose pipeline was deleted, or listens to
// something else, before it ran.
func abandoned(pipeline string, e correlation.Envelope) *sluice.Outcome {
	err := sluice.Errorf(sluice.Gone, "pipeline-gone", "The pipeline %s was deleted or listens to other events by now.", pipeline)
	shown := problem.Of(err.InCall(e.TraceID))
	said := &sluice.Said{Message: "What was to handle the call was removed before it came to that.", StatusCode: shown.Status, Code: err.Code}
	return &sluice.Outcome{Pipeline: pipeline, Status: sluice.StatusError, StatusCode: shown.Status, Error: shown, Said: said, Finished: e.Received}
}

// Gone is the error of a result that is no longer kept, or never was.
func Gone() error {
	return sluice.Errorf(sluice.Gone, "result-gone", "There is no result with this correlation id, or it has expired.")
}

// progress remembers for a moment how far the consumer of a pipeline is, so that
// polls don't ask the engine each time.
type progress struct {
	mu   sync.Mutex
	seen map[string]seenProgress // by binding
}

type seenProgress struct {
	at   time.Time
	info *jetstream.ConsumerInfo
}

const progressAge = 250 * time.Millisecond

// finished reports whether a pipeline is done with the event with a sequence.
// It may still report false for a moment after that.
func (q *Queue) finished(ctx context.Context, binding string, sequence uint64) (bool, error) {
	q.progress.mu.Lock()
	seen := q.progress.seen[binding]
	q.progress.mu.Unlock()
	if time.Since(seen.at) > progressAge {
		consumer, err := q.events.Consumer(ctx, binding)
		if errors.Is(err, jetstream.ErrConsumerNotFound) {
			return false, nil // it is about to be made again
		}
		if err != nil {
			return false, stream.NoAnswer(err)
		}
		seen = seenProgress{time.Now(), consumer.CachedInfo()}
		q.progress.mu.Lock()
		if len(q.progress.seen) > 10_000 {
			clear(q.progress.seen)
		}
		q.progress.seen[binding] = seen
		q.progress.mu.Unlock()
	}
	info := seen.info
	return sequence <= info.AckFloor.Stream || info.NumAckPending == 0 && sequence <= info.Delivered.Stream, nil
}
