package record

import (
	"context"
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
	"sluice/stretch"
)

// A Bucket is a key-value bucket of records of one type, with a copy in memory
// that follows every change, whichever node makes it.
//
// A change is decided on the copy and written on condition that nothing else
// was written to the bucket since. So rules that span records, such as a name
// that must be unique, hold across nodes.
//
// What the engine stores is sealed; the copy is in clear.
type Bucket[T any] struct {
	host   *stream.Host
	name   string
	stream jetstream.Stream // behind the bucket
	disk   *durable.Flusher // nil: durability is the engine's own

	followers []func(before, after *T) // called under the lock of the copy

	writing chan struct{} // holds one token: the right to write from this node
	misses  *rate.Limiter // bounds look-ups of keys that the copy doesn't have

	budget *Budget // nil: the records don't count

	mu       sync.RWMutex
	sizes    map[string]int // of records that count, as they are stored
	in       Generation     // of the last attempt to set it up
	records  map[string]*T
	unsynced map[string]uint64    // revisions that may not be on the disk yet
	watch    jetstream.KeyWatcher // whoever keeps up has it
	applied  uint64               // revision up to which the copy is complete
	moved    chan struct{}        // closed and replaced whenever applied grows

	flushed atomic.Uint64 // revision up to which Extent knows that all is on the disk
}

// New returns a bucket. SetUp comes next.
func New[T any](h *stream.Host, name string) *Bucket[T] {
	b := &Bucket[T]{
		host:     h,
		name:     name,
		writing:  make(chan struct{}, 1),
		misses:   rate.NewLimiter(100, 100),
		records:  make(map[string]*T),
		unsynced: make(map[string]uint64),
		moved:    make(chan struct{}),
	}
	b.writing <- struct{}{}
	return b
}

// Name returns the name of the bucket.
func (b *Bucket[T]) Name() string { return b.name }

// StreamName returns the name of the stream behind the bucket.
func (b *Bucket[T]) StreamName() string { return streamOf(b.generation().bucket(b.name)) }

// SetUp creates the bucket of a generation where it is missing, fills the copy
// and keeps it up to date.
func (b *Bucket[T]) SetUp(ctx, running context.Context, in Generation) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("bucket of %s: %w", b.name, err)
		}
	}()
	b.mu.Lock()
	b.in = in
	b.mu.Unlock()
	kv, err := b.host.OpenBucket(ctx, in.bucket(b.name), history)
	if err != nil {
		return err
	}
	stream := streamOf(in.bucket(b.name))
	err = b.host.Insist(ctx, "the bucket "+b.name, func(ctx context.Context) error { return b.follow(ctx, running, kv, stream) })
	if err != nil {
		return err
	}
	if blocks := b.host.Blocks(stream); blocks != nil {
		blocks.Rewritten = true
		b.disk = durable.NewFlusher(blocks.Sync)
		b.host.Start(func() {
			defer blocks.Close()
			b.disk.Run(running)
		})
	}
	return nil
}

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
	if err := b.fill(ctx, watch, last); err != nil {
		return errors.Join(err, watch.Stop())
	}
	b.watch = watch
	b.host.Start(func() { b.keepUp(running, kv) })
	return nil
}

func (b *Bucket[T]) generation() Generation {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.in
}

// An Extent is how much a bucket has in it.
type Extent struct {
	Bucket   string `json:"-"` // as the engine names it
	Revision uint64 `json:"revision"`
	Records  int    `json:"records"`
	Spoiled  bool   `json:"spoiled,omitempty"` // by the disk: an earlier value may stand for a lost one
}

// Extent returns how much the bucket has in it, once that is on stable storage.
func (b *Bucket[T]) Extent(ctx context.Context) (Extent, error) {
	b.mu.RLock()
	e := Extent{Bucket: b.in.bucket(b.name), Revision: b.applied, Records: len(b.records)}
	b.mu.RUnlock()
	if b.disk != nil && e.Revision > b.flushed.Load() {
		if err := b.disk.Flush(ctx); err != nil {
			return Extent{}, err
		}
		b.flushed.Store(e.Revision)
	}
	return e, nil
}

// history is how many values of a key a bucket keeps: see settle.
const history = 2

func streamOf(bucket string) string { return stream.BucketPrefix + bucket }

// keepUp applies changes as they come. The client library gives a watch up if the
// engine goes away at the wrong moment. Then another watch goes on where it ended.
func (b *Bucket[T]) keepUp(ctx context.Context, kv jetstream.KeyValue) {
	for {
		select {
		case entry, ok := <-b.watch.Updates():
			switch {
			case ok && entry != nil:
				b.apply(entry)
			case !ok && !b.watchAgain(ctx, kv):
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// watchAgain begins another watch behind what was applied. It returns false when ctx has
// ended, or the connection is closed for good: the copy would grow stale, so the host
// fails.
func (b *Bucket[T]) watchAgain(ctx context.Context, kv jetstream.KeyValue) bool {
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
		select {
		case <-ctx.Done():
			return false
		case <-time.After(stream.BeginAgain):
		}
	}
}

// fillTimeout is how long the next of the first values may take.
const fillTimeout = 5 * time.Second

// fill applies the first values of a watch.
func (b *Bucket[T]) fill(ctx context.Context, watch jetstream.KeyWatcher, last uint64) error {
	patience := b.host.Patience(fillTimeout)
	idle := time.NewTimer(patience)
	defer idle.Stop()
	for {
		select {
		case entry, ok := <-watch.Updates():
			idle.Reset(patience)
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
			return fmt.Errorf("the watch does not go on: %w", nats.ErrTimeout)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// apply brings a change into the copy. A change that can't be opened is left out:
// nobody knows which record it is about.
func (b *Bucket[T]) apply(entry jetstream.KeyValueEntry) {
	change, err := openRecord[T](b.generation(), b.name, entry.Key(), entry.Value())
	if err != nil {
		b.host.Log.Error("A stored record can't be read; it is left out.", "bucket", b.name, "revision", entry.Revision(), "error", err)
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

// Get returns a record, or nil. On an external engine a record that another node has
// just written may be missing in the copy: then the copy catches up first, at a
// limited rate, so that guessing keys can't load the engine.
func (b *Bucket[T]) Get(ctx context.Context, key string) (*T, error) {
	record := b.Copy(key)
	if record != nil || b.host.SoleWriter {
		return record, nil
	}
	if err := b.host.Connected(); err != nil {
		return nil, err
	}
	if !b.misses.Allow() {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, stretch.Of(writeTimeout))
	defer cancel()
	if err := b.CatchUp(ctx); err != nil {
		return nil, err
	}
	return b.Copy(key), nil
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
	all := make([]*T, 0, len(b.records))
	for _, record := range b.records {
		all = append(all, record)
	}
	return all
}

// Keys returns the keys of the records for which chosen returns true.
func (b *Bucket[T]) Keys(chosen func(record *T) bool) (keys []string) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for key, record := range b.records {
		if chosen(record) {
			keys = append(keys, key)
		}
	}
	return keys
}

// Changed returns a channel that is closed at the next change, whichever node
// makes it.
func (b *Bucket[T]) Changed() <-chan struct{} {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.moved
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
