// Package record stores records of one type by key: accounts, roles, webhooks,
// pipelines, and whatever else is looked up and changed one at a time.
//
// A Bucket is a key-value bucket of the engine with a copy in memory, which
// follows every change on every node. Reads use the copy. A change is decided
// on the copy, written on condition that nothing else was written since, and
// answered once it is on stable storage (docs/decisions/0003).
//
// The engine stores records sealed, under keyed hashes of their keys. All buckets
// that are sealed with one key are a Generation; Generations says which one
// counts, and moves the records to another key (docs/decisions/0015).
//
// The packages that decide changes know the meaning of the records and the rules between them.
package record

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
)

// writeTimeout bounds a change to a bucket.
const writeTimeout = 5 * time.Second

// Change replaces the record of a key by what decide returns, and itself returns once
// that is on stable storage. A nil record means none before, or that it is deleted.
// decide sees the copy, under its lock, and may be called again if another node writes
// at the same time; its last error is returned unchanged.
func (b *Bucket[T]) Change(ctx context.Context, key string, decide func(before *T, all map[string]*T) (*T, error)) (*T, error) {
	if err := b.host.Ready(); err != nil {
		return nil, err
	}
	return b.ChangeEarly(ctx, key, decide)
}

// ChangeEarly does what Change does, also while the engine is being set up.
func (b *Bucket[T]) ChangeEarly(ctx context.Context, key string, decide func(before *T, all map[string]*T) (*T, error)) (*T, error) {
	// The change is carried through even if the caller gives up meanwhile.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), b.host.Patience(writeTimeout))
	defer cancel()
	after, revision, err := b.write(ctx, key, decide)
	if err != nil {
		return nil, err
	}
	return after, b.settle(ctx, key, revision)
}

// settle makes a change durable. The engine keeps two values of a key. When a third
// is written, the first may be gone from the disk at once, so the second must be
// there by then: write settles it first.
func (b *Bucket[T]) settle(ctx context.Context, key string, revision uint64) error {
	if b.disk == nil {
		return nil
	}
	if err := b.disk.Flush(ctx); err != nil {
		if !errors.Is(err, context.DeadlineExceeded) {
			b.host.Fail(fmt.Errorf("sync of bucket %s: %w", b.name, err))
		}
		return sluice.Passing(sluice.CodeEngineUnavailable, "The change could not be made durable.").Because(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.unsynced[key] == revision {
		delete(b.unsynced, key)
	}
	return nil
}

// write decides and stores a change, but does not wait for the disk.
func (b *Bucket[T]) write(ctx context.Context, key string, decide func(before *T, all map[string]*T) (*T, error)) (after *T, revision uint64, err error) {
	select {
	case <-b.writing:
		defer func() { b.writing <- struct{}{} }()
	case <-ctx.Done():
		return nil, 0, sluice.Passing(sluice.CodeEngineUnavailable, "Too many changes are waiting.")
	}
	upToDate := b.host.SoleWriter
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
			err, upToDate = b.CatchUp(ctx), true
		case pending != 0:
			err = b.settle(ctx, key, pending)
		default:
			revision, err = b.publish(ctx, key, after, base)
			if err == nil {
				return after, revision, b.await(ctx, revision)
			}
			if stream.WasConflict(err) {
				err = b.await(ctx, base+1)
			}
		}
		if err != nil {
			return nil, 0, err
		}
	}
}

func (b *Bucket[T]) publish(ctx context.Context, key string, record *T, base uint64) (revision uint64, err error) {
	msg, err := newMessage(b.generation(), b.name, stored[T]{key, record})
	if err != nil {
		return 0, err
	}
	if record != nil {
		if err := b.fits(key, len(msg.Data)); err != nil {
			return 0, err
		}
	}
	if err := stream.Fits("The record", len(msg.Data)); err != nil {
		return 0, err
	}
	ack, err := b.host.JS.PublishMsg(ctx, msg, jetstream.WithExpectLastSequence(base))
	if err != nil {
		return 0, stream.NotTaken("the change", err)
	}
	return ack.Sequence, nil
}

// newMessage returns the message that stores a record, or that it is deleted.
func newMessage[T any](in Generation, bucket string, s stored[T]) (*nats.Msg, error) {
	engineKey := in.key(bucket, s.key)
	content, err := sealRecord(in, bucket, engineKey, s)
	if err != nil {
		return nil, err
	}
	msg := nats.NewMsg(stream.BucketSubjects + in.bucket(bucket) + "." + engineKey)
	msg.Data = content
	if s.record == nil {
		msg.Header.Set("KV-Operation", "DEL")
	}
	return msg, nil
}

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

// A Budget bounds the bytes of the records in several buckets, since all of them are in
// memory. Each node has its own.
type Budget struct {
	Max     int64 // 0: any number
	used    atomic.Int64
	refused atomic.Int64 // records
}

// Used returns the bytes of all records.
func (b *Budget) Used() int64 { return b.used.Load() }

// Refused returns how many records had no room since the start.
func (b *Budget) Refused() int64 { return b.refused.Load() }

// small is how large a record may become by a change although the budget is used up, so that
// its uses can be noted.
const small = 1 << 10

// Within makes the records of a bucket count in a budget. It comes before SetUp.
func (b *Bucket[T]) Within(budget *Budget) { b.budget, b.sizes = budget, make(map[string]int) }

// fits refuses a record for which the budget has no room. What becomes shorter always fits.
func (b *Bucket[T]) fits(key string, size int) error {
	if b.budget == nil {
		return nil
	}
	b.mu.RLock()
	before := b.sizes[key]
	b.mu.RUnlock()
	if size <= before || before > 0 && size <= small || b.budget.Max == 0 || b.budget.used.Load()+int64(size-before) <= b.budget.Max {
		return nil
	}
	b.budget.refused.Add(1)
	return sluice.Errorf(sluice.CodeTooManyRecords, "Webhooks, pipelines with their versions, users, roles, clients and secrets take as much as they may, %d MiB; delete some, or give the server a larger --memory-limit.", b.budget.Max>>20)
}

// weigh counts a record that is in the copy now, or no longer. The caller must hold the lock.
func (b *Bucket[T]) weigh(key string, size int, exists bool) {
	if b.budget == nil {
		return
	}
	if !exists {
		size = 0
	}
	b.budget.used.Add(int64(size - b.sizes[key]))
	if b.sizes[key] = size; size == 0 {
		delete(b.sizes, key)
	}
}

// Warning returns a text for the operator when little is left, otherwise "".
func (b *Budget) Warning() string {
	const near = 8 // of which one part is left
	if used := b.used.Load(); b.Max > 0 && used > b.Max/near*(near-1) {
		return fmt.Sprintf("records take %d of the %d KiB that they may: soon no more are stored; delete some, or give the server a larger --memory-limit", used>>10, b.Max>>10)
	}
	return ""
}
