package record

import (
	"context"
	"maps"
	"slices"

	"sluice"
	"sluice/jetstream/stream"
	"sluice/stretch"
)

// Get returns a record, or nil. On an external engine a record that another node has
// just written may be missing in the copy: then the copy catches up first, at a
// limited rate, so that guessing keys can't load the engine.
func (b *Bucket[T]) Get(ctx context.Context, key string) (*T, error) {
	record := b.Copy(key)
	if record != nil || b.host.SoleWriter {
		return record, nil
	}
	if err := b.lookAgain(ctx); err != nil {
		return nil, err
	}
	return b.Copy(key), nil
}

// lookAgain lets the copy catch up, unless that was done often of late.
func (d *documents) lookAgain(ctx context.Context) error {
	if err := d.host.Connected(); err != nil || !d.misses.Allow() {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, stretch.Of(writeTimeout))
	defer cancel()
	return d.CatchUp(ctx)
}

// Count returns how many records there are.
func (b *Bucket[T]) Count() int {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return len(b.records)
}

// Copy returns a record of the copy, or nil. It never waits.
func (b *Bucket[T]) Copy(key string) *T {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.records[key]
}

// All returns every record, in no particular order.
func (b *Bucket[T]) All() []*T {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return slices.AppendSeq(make([]*T, 0, len(b.records)), maps.Values(b.records))
}

// Keys returns the keys of all records.
func (b *Bucket[T]) Keys() []string {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return slices.Collect(maps.Keys(b.records))
}

// CatchUp returns once the copy has all that any node has written by now. It asks the
// stream's leader, since a replica may be behind.
func (d *documents) CatchUp(ctx context.Context) error {
	if d.host.SoleWriter {
		return nil
	}
	info, err := d.stream.Info(ctx)
	if err != nil {
		return stream.NoAnswer(err)
	}
	return d.await(ctx, info.State.LastSeq)
}

// await returns once the copy has everything up to a revision.
func (d *documents) await(ctx context.Context, revision uint64) error {
	for {
		d.mu.RLock()
		applied, moved := d.applied, d.moved
		d.mu.RUnlock()
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
