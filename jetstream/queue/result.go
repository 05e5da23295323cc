package queue

import (
	"context"
	"errors"
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
	err := sluice.Errorf(sluice.CodePipelineGone, "The pipeline %s was deleted or listens to other events by now.", pipeline)
	shown := problem.Of(err.InCall(e.TraceID))
	said := &sluice.Said{Message: "What was to handle the call was removed before it came to that.", StatusCode: shown.Status, Code: err.Code}
	return &sluice.Outcome{Pipeline: pipeline, Status: sluice.StatusError, StatusCode: shown.Status, Error: shown, Said: said, Finished: e.Received}
}

// Gone is the error of a result that is no longer kept, or never was.
func Gone() error {
	return sluice.Errorf(sluice.CodeResultGone, "There is no result with this correlation id, or it has expired.")
}

// How far consumers are is remembered for a moment, so that polls don't ask the
// engine each time.
const (
	progressAge = 250 * time.Millisecond
	maxProgress = 10_000 // bindings of which it is remembered
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
