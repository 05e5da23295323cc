package record

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/semaphore"
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
//
// What the engine stores is sealed; the copy is in clear.
type Bucket[T any] struct {
	host    *stream.Host
	name    string
	stream  jetstream.Stream // behind the bucket
	changes *stream.Follower
	disk    *durable.Flusher // nil: durability is the engine's own

	followers []func(before, after *T) // called under the lock of the copy

	writing *semaphore.Weighted // one: the right to write from this node
	misses  *rate.Limiter       // bounds look-ups of keys that the copy doesn't have

	budget *Budget // nil: the records don't count

	mu       sync.RWMutex
	sizes    map[string]int // of records that count, as they are stored
	in       Generation     // of the last attempt to set it up
	records  map[string]*T
	unsynced map[string]uint64 // revisions that may not be on the disk yet
	applied  uint64            // revision up to which the copy is complete
	moved    chan struct{}     // closed and replaced whenever applied grows

	flushed atomic.Uint64 // revision up to which Extent knows that all is on the disk
}

// New returns a bucket. SetUp comes next.
func New[T any](h *stream.Host, name string) *Bucket[T] {
	return &Bucket[T]{
		host:     h,
		name:     name,
		writing:  semaphore.NewWeighted(1),
		misses:   rate.NewLimiter(100, 100),
		records:  make(map[string]*T),
		unsynced: make(map[string]uint64),
		moved:    make(chan struct{}),
	}
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
	if b.stream, err = b.host.OpenBucket(ctx, in.bucket(b.name)); err != nil {
		return err
	}
	if err := b.fill(ctx); err != nil {
		return err
	}
	if blocks := b.host.Blocks(streamOf(in.bucket(b.name)), true); blocks != nil {
		b.disk = &durable.Flusher{Sync: blocks.Sync}
		context.AfterFunc(running, blocks.Close)
	}
	b.host.Start(func() { b.changes.Visit(running, b.apply) })
	return nil
}

func (b *Bucket[T]) generation() Generation {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.in
}

func streamOf(bucket string) string { return stream.BucketPrefix + bucket }

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
