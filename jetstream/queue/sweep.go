package queue

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// DropUnbound deletes consumers without a pipeline: a process may have ended after it
// stored a binding, and before it stored the pipeline.
func (q *Queue) DropUnbound(ctx context.Context) error {
	const settled = 10 * time.Minute // another node may be about to store its pipeline
	bound := q.listeners.Bound()
	consumers := q.events.ListConsumers(ctx)
	for info := range consumers.Info() {
		if bound[info.Name] != nil || !q.host.SoleWriter && time.Since(info.Created) < settled {
			continue
		}
		if err := q.events.DeleteConsumer(ctx, info.Name); err != nil &&
			!errors.Is(err, jetstream.ErrConsumerNotFound) {
			return err
		}
	}
	if err := consumers.Err(); err != nil {
		return err
	}
	stored, err := q.waiting.stored(ctx)
	if err != nil {
		return err
	}
	return q.sweep(ctx, stored)
}

// Sweep removes events that wait for pipelines that no longer listen, as far as the
// index knows.
func (q *Queue) Sweep(ctx context.Context) error { return q.sweep(ctx, q.waiting.known()) }

// sweep removes what waits for those of the bindings that no longer exist. A node may have
// ended before it removed that, or a run may have ended later.
//
// Something waits for these bindings, so they had a consumer and a pipeline; neither is
// ever made again under the same id. If both are gone, as the leaders say, nobody needs
// what waits. If only one is gone, a node may be about to store or remove the other.
func (q *Queue) sweep(ctx context.Context, bindings map[string]bool) error {
	for binding := range q.listeners.Bound() {
		delete(bindings, binding)
	}
	for binding := range bindings {
		_, err := q.events.Consumer(ctx, binding)
		switch {
		case err == nil:
			delete(bindings, binding)
		case !errors.Is(err, jetstream.ErrConsumerNotFound):
			return err
		}
	}
	if len(bindings) == 0 {
		return nil
	}
	if err := q.listeners.pipelines.CatchUp(ctx); err != nil {
		return err
	}
	bound := q.listeners.Bound()
	for binding := range bindings {
		if bound[binding] == nil {
			q.waiting.dropAll(ctx, binding)
		}
	}
	return nil
}
