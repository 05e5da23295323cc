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
	documents
	records   map[string]*T
	followers []func(before, after *T) // called under the lock of the copy
}

// documents are the records of a bucket as the engine has them, whatever their type: a compiler
// makes the methods of Bucket anew for each type, and in each package that sees one.
type documents struct {
	host    *stream.Host
	name    string
	stream  jetstream.Stream // behind the bucket
	changes *stream.Follower
	disk    *durable.Flusher // nil: durability is the engine's own

	writing *semaphore.Weighted // one: the right to write from this node
	misses  *rate.Limiter       // bounds look-ups of keys that the copy doesn't have

	budget *Budget // nil: the records don't count

	// read returns what puts a document into the copy, which is called under its lock.
	read func(key string, document []byte) (put func(), err error)

	mu       sync.RWMutex      // of the copy, too
	sizes    map[string]int    // as they are stored
	in       Generation        // of the last attempt to set it up
	unsynced map[string]uint64 // revisions that may not be on the disk yet
	applied  uint64            // revision up to which the copy is complete
	moved    chan struct{}     // closed and replaced whenever applied grows

	flushed atomic.Uint64 // revision up to which Extent knows that all is on the disk
}

// New returns a bucket. SetUp comes next.
func New[T any](h *stream.Host, name string) *Bucket[T] {
	b := &Bucket[T]{records: make(map[string]*T), documents: documents{
		host:     h,
		name:     name,
		writing:  semaphore.NewWeighted(1),
		misses:   rate.NewLimiter(100, 100),
		sizes:    make(map[string]int),
		unsynced: make(map[string]uint64),
		moved:    make(chan struct{}),
	}}
	b.read = b.readDocument
	return b
}

// Name returns the name of the bucket.
func (d *documents) Name() string { return d.name }

// StreamName returns the name of the stream behind the bucket.
func (d *documents) StreamName() string { return streamOf(d.generation().bucket(d.name)) }

// SetUp creates the bucket of a generation where it is missing, fills the copy
// and keeps it up to date.
func (d *documents) SetUp(ctx, running context.Context, in Generation) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("bucket of %s: %w", d.name, err)
		}
	}()
	d.mu.Lock()
	d.in = in
	d.mu.Unlock()
	if d.stream, err = d.host.OpenBucket(ctx, in.bucket(d.name)); err != nil {
		return err
	}
	if err := d.fill(ctx); err != nil {
		return err
	}
	if blocks := d.host.Blocks(streamOf(in.bucket(d.name)), true); blocks != nil {
		d.disk = &durable.Flusher{Sync: blocks.Sync}
		context.AfterFunc(running, blocks.Close)
	}
	d.host.Start(func() { d.changes.Visit(running, d.apply) })
	return nil
}

func (d *documents) generation() Generation {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.in
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
func (d *documents) Extent(ctx context.Context) (Extent, error) {
	d.mu.RLock()
	e := Extent{Bucket: d.in.bucket(d.name), Revision: d.applied, Records: len(d.sizes)}
	d.mu.RUnlock()
	if d.disk != nil && e.Revision > d.flushed.Load() {
		if err := d.disk.Flush(ctx); err != nil {
			return Extent{}, err
		}
		d.flushed.Store(e.Revision)
	}
	return e, nil
}
