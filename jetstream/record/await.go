package record

import (
	"context"

	"sluice"
	"sluice/jetstream/stream"
)

// CatchUp returns once the copy has all that any node has written by now. It asks the
// stream's leader, since a replica may be behind.
func (b *Bucket[T]) CatchUp(ctx context.Context) error {
	if b.host.SoleWriter {
		return nil
	}
	info, err := b.stream.Info(ctx)
	if err != nil {
		return stream.NoAnswer(err)
	}
	return b.await(ctx, info.State.LastSeq)
}

// await returns once the copy has everything up to a revision.
func (b *Bucket[T]) await(ctx context.Context, revision uint64) error {
	for {
		b.mu.RLock()
		applied, moved := b.applied, b.moved
		b.mu.RUnlock()
		if applied >= revision {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return sluice.Passing(sluice.CodeEngineUnavailable, "The engine is too slow.").Because(ctx.Err())
		}
	}
}
