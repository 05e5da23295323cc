package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/time/rate"

	"sluice/durable"
)

// writeTimeout bounds a change to a bucket.
const writeTimeout = 5 * time.Second

// A bucket is a key-value bucket of records of one type, with a copy in memory
// that follows every change, whichever node makes it.
//
// A change is decided on the copy and written on condition that nothing else
// was written to the bucket since. So rules that span records, such as a name
// that must be unique, hold across nodes.
type bucket[T any] struct {
	engine *Engine
	name   string
	stream jetstream.Stream // that the bucket is made of
	disk   *durable.Flusher // nil: durability is the engine's own

	// follow is told of each change under the lock of the copy: before is nil
	// for a new record, after for a deleted one.
	follow func(before, after *T)

	writing chan struct{} // holds one token: the right to write from this node
	misses  *rate.Limiter // of look-ups for keys that the copy doesn't have

	mu       sync.RWMutex
	records  map[string]*T
	unsynced map[string]uint64 // revisions that may not be on the disk yet
	applied  uint64            // revision up to which the copy is complete
	moved    chan struct{}     // closed and replaced whenever applied grows
}

func newBucket[T any](e *Engine, name string) *bucket[T] {
	b := &bucket[T]{
		engine:   e,
		name:     name,
		follow:   func(_, _ *T) {},
		writing:  make(chan struct{}, 1),
		misses:   rate.NewLimiter(100, 100),
		records:  make(map[string]*T),
		unsynced: make(map[string]uint64),
		moved:    make(chan struct{}),
	}
	b.writing <- struct{}{}
	return b
}

// setUp creates the bucket where it is missing, fills the copy and keeps it up
// to date.
func (b *bucket[T]) setUp(ctx, running context.Context) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("bucket of %s: %w", b.name, err)
		}
	}()
	kv, err := b.engine.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
		Bucket:   b.name,
		Replicas: max(1, b.engine.opts.Replicas),
		History:  2, // see settle
	})
	if err != nil {
		return err
	}
	// Taken before the watch begins: all up to here is among its first values,
	// also if the newest messages of the stream are gone.
	if b.stream, err = b.engine.js.Stream(ctx, "KV_"+b.name); err != nil {
		return err
	}
	last := b.stream.CachedInfo().State.LastSeq
	watch, err := kv.WatchAll(running)
	if err != nil {
		return err
	}
	if err := b.fill(ctx, watch, last); err != nil {
		return errors.Join(err, watch.Stop())
	}
	if b.engine.syncs() {
		blocks := b.engine.blocksOf("KV_" + b.name)
		blocks.Rewritten = true
		b.disk = durable.NewFlusher(blocks.Sync)
		b.engine.start(func() { b.disk.Run(running) })
	}
	b.engine.start(func() { b.keepUp(running, watch) })
	return nil
}

// keepUp applies changes as they come.
func (b *bucket[T]) keepUp(ctx context.Context, watch jetstream.KeyWatcher) {
	for {
		select {
		case entry := <-watch.Updates():
			if entry != nil {
				b.apply(entry)
			}
		case <-ctx.Done():
			return
		}
	}
}

// fill applies the values that are there when a watch begins.
func (b *bucket[T]) fill(ctx context.Context, watch jetstream.KeyWatcher, last uint64) error {
	for {
		select {
		case entry, open := <-watch.Updates():
			switch {
			case !open:
				return errors.New("the watch ended early")
			case entry == nil:
				b.mu.Lock()
				b.applied = max(b.applied, last)
				b.mu.Unlock()
				return nil
			}
			b.apply(entry)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (b *bucket[T]) apply(entry jetstream.KeyValueEntry) {
	after, err := decode[T](entry)
	if err != nil {
		b.engine.log.Error("A stored record can't be read; it is left out.", "bucket", b.name, "revision", entry.Revision(), "error", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	before := b.records[entry.Key()]
	if after == nil {
		delete(b.records, entry.Key())
	} else {
		b.records[entry.Key()] = after
	}
	if before != nil || after != nil {
		b.follow(before, after)
	}
	if b.disk != nil {
		b.unsynced[entry.Key()] = entry.Revision()
	}
	b.applied = max(b.applied, entry.Revision())
	close(b.moved)
	b.moved = make(chan struct{})
}

// decode gives the record of an entry, nil for a deleted one.
func decode[T any](entry jetstream.KeyValueEntry) (*T, error) {
	if entry.Operation() != jetstream.KeyValuePut {
		return nil, nil
	}
	record := new(T)
	if err := json.Unmarshal(entry.Value(), record); err != nil {
		return nil, err
	}
	return record, nil
}

// get gives a record, or nil. On an external engine a record that another node
// has just written may not have reached the copy: then the copy catches up
// first, within a rate that keeps guessers from loading the engine.
func (b *bucket[T]) get(ctx context.Context, key string) (*T, error) {
	record := b.copied(key)
	if record != nil || b.engine.server != nil {
		return record, nil
	}
	if err := b.engine.connected(); err != nil {
		return nil, err
	}
	if !b.misses.Allow() {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	if err := b.catchUp(ctx); err != nil {
		return nil, err
	}
	return b.copied(key), nil
}

// count gives the number of records in the copy.
func (b *bucket[T]) count() int {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return len(b.records)
}

func (b *bucket[T]) copied(key string) *T {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.records[key]
}

// change replaces the record of a key by what decide makes of it (nil: none
// before, or to be deleted) and returns once that is on stable storage. decide
// sees the copy as it is, under its lock, and may be called again if another
// node writes at the same time; its error, if it stays, is returned as it is.
func (b *bucket[T]) change(ctx context.Context, key string, decide func(before *T, all map[string]*T) (*T, error)) (*T, error) {
	if err := b.engine.Ready(); err != nil {
		return nil, err
	}
	return b.store(ctx, key, decide)
}

// store does what change does, also while the engine is being set up.
func (b *bucket[T]) store(ctx context.Context, key string, decide func(before *T, all map[string]*T) (*T, error)) (*T, error) {
	// The change is carried through even if the caller gives up meanwhile.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	after, revision, err := b.write(ctx, key, decide)
	if err != nil {
		return nil, err
	}
	return after, b.settle(ctx, key, revision)
}

// settle makes a change durable. The engine keeps two values of a key: the one
// it drops when a third is written may be gone from the disk at once, so the
// second has to be there by then. That is why write settles what is unsynced.
func (b *bucket[T]) settle(ctx context.Context, key string, revision uint64) error {
	if b.disk == nil {
		return nil
	}
	if err := b.disk.Flush(ctx); err != nil {
		if !errors.Is(err, context.DeadlineExceeded) {
			b.engine.fail(fmt.Errorf("sync of bucket %s: %w", b.name, err))
		}
		return unavailable("engine-unavailable", "The change could not be made durable.").Because(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.unsynced[key] == revision {
		delete(b.unsynced, key)
	}
	return nil
}

// write decides and stores a change, but does not wait for the disk.
func (b *bucket[T]) write(ctx context.Context, key string, decide func(before *T, all map[string]*T) (*T, error)) (after *T, revision uint64, err error) {
	select {
	case <-b.writing:
		defer func() { b.writing <- struct{}{} }()
	case <-ctx.Done():
		return nil, 0, unavailable("engine-unavailable", "Too many changes are waiting.")
	}
	upToDate := b.engine.server != nil
	for {
		b.mu.RLock()
		base, pending := b.applied, b.unsynced[key]
		after, err = decide(b.records[key], b.records)
		b.mu.RUnlock()
		switch {
		case err != nil && upToDate:
			return nil, 0, err
		case err != nil:
			// Another node may have changed what the decision rests on.
			err, upToDate = b.catchUp(ctx), true
		case pending != 0:
			err = b.settle(ctx, key, pending)
		default:
			revision, err = b.publish(ctx, key, after, base)
			if err == nil {
				return after, revision, b.await(ctx, revision)
			}
			if wasConflict(err) {
				err = b.await(ctx, base+1)
			}
		}
		if err != nil {
			return nil, 0, err
		}
	}
}

func (b *bucket[T]) publish(ctx context.Context, key string, record *T, base uint64) (revision uint64, err error) {
	msg := nats.NewMsg("$KV." + b.name + "." + key)
	if record == nil {
		msg.Header.Set("KV-Operation", "DEL")
	} else if msg.Data, err = json.Marshal(record); err != nil {
		return 0, err
	}
	ack, err := b.engine.js.PublishMsg(ctx, msg, jetstream.WithExpectLastSequence(base))
	if err != nil {
		return 0, notTaken("the change", err)
	}
	return ack.Sequence, nil
}

// catchUp returns once the copy has all that any node has written by now. The
// stream's leader is asked, since a replica may be behind itself.
func (b *bucket[T]) catchUp(ctx context.Context) error {
	info, err := b.stream.Info(ctx)
	if err != nil {
		return noAnswer(err)
	}
	return b.await(ctx, info.State.LastSeq)
}

// await returns once the copy has everything up to a revision.
func (b *bucket[T]) await(ctx context.Context, revision uint64) error {
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
			return unavailable("engine-unavailable", "The engine is too slow.").Because(ctx.Err())
		}
	}
}
