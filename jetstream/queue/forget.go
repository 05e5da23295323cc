package queue

import (
	"context"

	"sluice/jetstream/stream"
)

// Forget removes the outcomes of an event, and what waits of it, see stream.Remove.
func (q *Queue) Forget(ctx context.Context, sequence uint64, traceID string, overwrite bool) error {
	key := eventKey(q.ids, sequence, traceID)
	for binding := range q.waiting.known() {
		q.waiting.forget(binding, key)
	}
	if err := stream.RemoveAll(ctx, q.waiting.stream, stream.WaitingPrefix+"*."+key+".>", overwrite); err != nil {
		return err
	}
	return stream.RemoveAll(ctx, q.outcomes.stream, stream.OutcomePrefix+key+".>", overwrite)
}
