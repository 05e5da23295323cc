package record

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/jetstream/stream"
	"sluice/wait"
)

// follow fills the copy and keeps it up to date.
func (b *Bucket[T]) follow(ctx, running context.Context, kv jetstream.KeyValue, stream string) (err error) {
	// Read before the watch begins: its first values include everything up to here,
	// even if the newest messages of the stream are gone.
	if b.stream, err = b.host.JS.Stream(ctx, stream); err != nil {
		return err
	}
	last := b.stream.CachedInfo().State.LastSeq
	// All values in their order, at most two of a key: reading a million of them takes
	// the engine less time than finding the newest ones.
	watch, err := kv.WatchAll(running, jetstream.IncludeHistory())
	if err != nil {
		return err
	}
	if err := first(ctx, watch, b.host.Patience(fillTimeout), b.apply); err != nil {
		return errors.Join(err, watch.Stop())
	}
	b.mu.Lock()
	b.applied = max(b.applied, last)
	b.mu.Unlock()
	b.watch = watch
	b.host.Start(func() { b.keepUp(running, kv) })
	return nil
}

// keepUp applies changes as they come. The client library gives a watch up if the
// engine goes away at the wrong moment. Then another watch goes on where it ended.
func (b *Bucket[T]) keepUp(ctx context.Context, kv jetstream.KeyValue) {
	for {
		select {
		case entry, ok := <-b.watch.Updates():
			switch {
			case ok && entry != nil:
				_ = b.apply(entry)
			case !ok && !b.rewatch(ctx, kv):
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// rewatch begins another watch behind what was applied. It returns false when ctx has
// ended, or the connection is closed for good: the copy would grow stale, so the host
// fails.
func (b *Bucket[T]) rewatch(ctx context.Context, kv jetstream.KeyValue) bool {
	for {
		if ctx.Err() != nil {
			return false
		}
		if b.host.Conn.IsClosed() {
			b.host.Fail(errors.New("the engine reports no more changes"))
			return false
		}
		b.mu.RLock()
		next := b.applied + 1
		b.mu.RUnlock()
		watch, err := kv.WatchAll(ctx, jetstream.IncludeHistory(), jetstream.ResumeFromRevision(next))
		if err == nil {
			b.watch = watch
			return true
		}
		b.host.Log.Warn("Changes of records can't be followed; trying again.", "bucket", b.name, "error", err)
		if wait.For(ctx, stream.FollowPause) != nil {
			return false
		}
	}
}

// fillTimeout is how long the next of the first values may take.
const fillTimeout = 5 * time.Second

// apply brings a change into the copy. It never fails: a change that can't be opened is left out,
// since nobody knows which record it is about.
func (b *Bucket[T]) apply(entry jetstream.KeyValueEntry) error {
	change, err := openRecord[T](b.generation(), b.name, entry.Key(), entry.Value())
	if err != nil {
		b.host.Log.Error("A stored record can't be read; it is left out.", "bucket", b.name,
			"revision", entry.Revision(), "error", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		b.replace(change.key, change.record)
		b.weigh(change.key, len(entry.Value()), change.record != nil)
		if b.disk != nil {
			b.unsynced[change.key] = entry.Revision()
		}
	}
	b.applied = max(b.applied, entry.Revision())
	close(b.moved)
	b.moved = make(chan struct{})
	return nil
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
