package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/time/rate"

	"sluice/durable"
	"sluice/jetstream/stream"
)

// A Bucket is a key-value bucket of records of one type, with a copy in memory
// that follows every change, whichever node makes it.
//
// A change is decided on the copy and written on condition that nothing else
// was written to the bucket since. So rules that span records, such as a name
// that must be unique, hold across nodes.
type Bucket[T any] struct {
	host   *stream.Host
	name   string
	encode func(key string) string
	stream jetstream.Stream // that the bucket is made of
	disk   *durable.Flusher // nil: durability is the engine's own

	followers []func(before, after *T) // under the lock of the copy

	writing chan struct{} // holds one token: the right to write from this node
	misses  *rate.Limiter // of look-ups for keys that the copy doesn't have

	mu       sync.RWMutex
	records  map[string]*T
	unsynced map[string]uint64 // revisions that may not be on the disk yet
	applied  uint64            // revision up to which the copy is complete
	moved    chan struct{}     // closed and replaced whenever applied grows

	flushed atomic.Uint64 // revision up to which Extent knows that all is on the disk
}

// New gives a bucket that is yet to be set up. The engine's keys can't have every
// character that names may have: encode, if it is not nil, makes one of the other.
func New[T any](h *stream.Host, name string, encode func(key string) string) *Bucket[T] {
	if encode == nil {
		encode = func(key string) string { return key }
	}
	b := &Bucket[T]{
		host:     h,
		name:     name,
		encode:   encode,
		writing:  make(chan struct{}, 1),
		misses:   rate.NewLimiter(100, 100),
		records:  make(map[string]*T),
		unsynced: make(map[string]uint64),
		moved:    make(chan struct{}),
	}
	b.writing <- struct{}{}
	return b
}

// SetUp creates the bucket where it is missing, fills the copy and keeps it up
// to date.
func (b *Bucket[T]) SetUp(ctx, running context.Context) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("bucket of %s: %w", b.name, err)
		}
	}()
	kv, err := b.host.OpenBucket(ctx, b.name, 2) // two values of a key: see settle
	if err != nil {
		return err
	}
	err = b.host.Insist(ctx, "the bucket "+b.name, func(ctx context.Context) error { return b.follow(ctx, running, kv) })
	if err != nil {
		return err
	}
	if blocks := b.host.Blocks("KV_" + b.name); blocks != nil {
		blocks.Rewritten = true
		b.disk = durable.NewFlusher(blocks.Sync)
		b.host.Start(func() { b.disk.Run(running) })
	}
	return nil
}

// follow fills the copy and keeps it up to date.
func (b *Bucket[T]) follow(ctx, running context.Context, kv jetstream.KeyValue) (err error) {
	// Taken before the watch begins: all up to here is among its first values,
	// also if the newest messages of the stream are gone.
	if b.stream, err = b.host.JS.Stream(ctx, "KV_"+b.name); err != nil {
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
	b.host.Start(func() { b.keepUp(running, watch) })
	return nil
}

// Name gives the bucket's name.
func (b *Bucket[T]) Name() string { return b.name }

// Extent gives the newest revision and the number of records, once that is on
// stable storage.
func (b *Bucket[T]) Extent(ctx context.Context) (revision uint64, records int, err error) {
	b.mu.RLock()
	revision, records = b.applied, len(b.records)
	b.mu.RUnlock()
	if b.disk != nil && revision > b.flushed.Load() {
		if err := b.disk.Flush(ctx); err != nil {
			return 0, 0, err
		}
		b.flushed.Store(revision)
	}
	return revision, records, nil
}

// keepUp applies changes as they come.
func (b *Bucket[T]) keepUp(ctx context.Context, watch jetstream.KeyWatcher) {
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

// fillTimeout is how long the next of the first values may take.
const fillTimeout = 5 * time.Second

// fill applies the values that are there when a watch begins.
func (b *Bucket[T]) fill(ctx context.Context, watch jetstream.KeyWatcher, last uint64) error {
	idle := time.NewTimer(fillTimeout)
	defer idle.Stop()
	for {
		select {
		case entry, ok := <-watch.Updates():
			idle.Reset(fillTimeout)
			switch {
			case !ok:
				return errors.New("the watch ended early")
			case entry == nil:
				b.mu.Lock()
				b.applied = max(b.applied, last)
				b.mu.Unlock()
				return nil
			}
			b.apply(entry)
		case <-idle.C:
			return fmt.Errorf("the watch stands still: %w", nats.ErrTimeout)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (b *Bucket[T]) apply(entry jetstream.KeyValueEntry) {
	after, err := decode[T](entry)
	if err != nil {
		b.host.Log.Error("A stored record can't be read; it is left out.", "bucket", b.name, "revision", entry.Revision(), "error", err)
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
		for _, follow := range b.followers {
			follow(before, after)
		}
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
