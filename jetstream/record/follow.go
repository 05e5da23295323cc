package record

import (
	"context"

	"github.com/nats-io/nats.go/jetstream"
)

// fill fills the copy. All values come in their order, at most two of a key: reading a million of them takes
// the engine less time than finding the newest ones.
func (b *Bucket[T]) fill(ctx context.Context) (err error) {
	// Known before the first value comes: those up to here are among them, even if the newest messages of the
	// stream are gone.
	last := b.stream.CachedInfo().State.LastSeq
	if err := b.host.Insist(ctx, "the bucket "+b.name, func(ctx context.Context) (err error) {
		b.changes, err = b.host.Follow(ctx, b.stream, jetstream.OrderedConsumerConfig{})
		return err
	}); err != nil {
		return err
	}
	if err := b.changes.Stored(ctx, b.apply); err != nil {
		b.changes.Stop()
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.applied = max(b.applied, last)
	return nil
}

// apply brings a change into the copy. One that can't be opened is left out, since nobody knows which
// record it is about.
func (b *Bucket[T]) apply(msg jetstream.Msg, meta *jetstream.MsgMetadata) {
	revision := meta.Sequence.Stream
	change, err := openMessage[T](b.generation(), b.name, msg)
	if err != nil {
		b.host.Log.Error("A stored record can't be read; it is left out.", "bucket", b.name,
			"revision", revision, "error", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		b.replace(change.key, change.record)
		b.weigh(change.key, len(msg.Data()), change.record != nil)
		if b.disk != nil {
			b.unsynced[change.key] = revision
		}
	}
	b.applied = max(b.applied, revision)
	close(b.moved)
	b.moved = make(chan struct{})
}

// replace puts a record into the copy, or takes it out if after is nil.
func (b *Bucket[T]) replace(key string, after *T) {
	before := b.records[key]
	if after == nil {
		delete(b.records, key)
	} else {
		b.records[key] = after
	}
	if before != nil || after != nil {
		for _, follow := range b.followers {
			follow(before, after)
		}
	}
}

// Follow calls follow for each record, and for each change from now on: before is nil
// for a new record, after for a deleted one. The calls come in order and under the
// lock of the copy, so follow must be quick and not use the bucket.
func (b *Bucket[T]) Follow(follow func(before, after *T)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, record := range b.records {
		follow(nil, record)
	}
	b.followers = append(b.followers, follow)
}

// Changed returns a channel that is closed at the next change, whichever node
// makes it.
func (b *Bucket[T]) Changed() <-chan struct{} {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.moved
}
