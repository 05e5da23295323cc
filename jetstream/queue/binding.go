package queue

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
)

// Bind implements sluice.Queue.
func (q *Queue) Bind(ctx context.Context, pattern string, concurrency int) (*sluice.Binding, error) {
	if err := q.host.Ready(); err != nil {
		return nil, err
	}
	info, err := q.events.Info(ctx)
	if err != nil {
		return nil, stream.NoAnswer(err)
	}
	// A sequence, never "from now on": if the engine loses the consumer's state, events
	// come twice instead of not at all.
	b := &sluice.Binding{
		ID:          strings.ToLower(rand.Text()),
		Pattern:     pattern,
		Concurrency: concurrency,
		Start:       info.State.LastSeq + 1,
	}
	if _, err := q.consumer(ctx, b); err != nil {
		return nil, stream.NotTaken("the binding", err)
	}
	return b, q.syncBinding(b)
}

// Unbind implements sluice.Queue.
func (q *Queue) Unbind(ctx context.Context, b *sluice.Binding) error {
	err := q.events.DeleteConsumer(ctx, b.ID)
	if err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
		return sluice.Passing(sluice.CodeEngineUnavailable, "The engine did not end the binding.").Because(err)
	}
	q.waiting.dropAll(ctx, b.ID)
	if err := q.lowWater.drop(ctx, b.ID); err != nil {
		return err
	}
	return q.syncBinding(b)
}

// syncBinding makes the creation or deletion of a binding durable.
func (q *Queue) syncBinding(b *sluice.Binding) error {
	return q.host.SyncStream(q.events.CachedInfo().Config.Name, "obs", b.ID)
}
