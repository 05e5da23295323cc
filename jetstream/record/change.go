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
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
	"sluice/value"
)

// writeTimeout bounds a change to a bucket.
const writeTimeout = 5 * time.Second

// Change replaces the record of a key by what decide returns, and itself returns once
// that is on stable storage. A nil record means none before, or that it is deleted.
// decide sees the copy, under its lock, and may be called again if another node writes
// at the same time; its last error is returned unchanged.
func (b *Bucket[T]) Change(
	ctx context.Context, key string, decide func(before *T, all map[string]*T) (*T, error),
) (*T, error) {
	if err := b.host.Ready(); err != nil {
		return nil, err
	}
	return b.ChangeEarly(ctx, key, decide)
}

// ChangeEarly does what Change does, also while the engine is being set up.
func (b *Bucket[T]) ChangeEarly(
	ctx context.Context, key string, decide func(before *T, all map[string]*T) (*T, error),
) (after *T, err error) {
	err = b.change(ctx, key, func() (any, error) {
		after, err = decide(b.records[key], b.records)
		if after == nil {
			return nil, err
		}
		return after, err
	})
	if err != nil {
		return nil, err
	}
	return after, nil
}

// change stores what decide makes of the record of a key; it calls decide under the lock of the copy.
func (d *documents) change(ctx context.Context, key string, decide func() (any, error)) error {
	// The change is carried through even if the caller gives up meanwhile.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.host.Patience(writeTimeout))
	defer cancel()
	revision, err := d.write(ctx, key, decide)
	if err != nil {
		return err
	}
	return d.settle(ctx, key, revision)
}

// settle makes a change durable. The engine keeps two values of a key. When a third
// is written, the first may be gone from the disk at once, so the second must be
// there by then: write settles it first.
func (d *documents) settle(ctx context.Context, key string, revision uint64) error {
	if d.disk == nil {
		return nil
	}
	if err := d.disk.Flush(ctx); err != nil {
		if !errors.Is(err, context.DeadlineExceeded) {
			d.host.Fail(fmt.Errorf("sync of bucket %s: %w", d.name, err))
		}
		return sluice.Passing(sluice.CodeEngineUnavailable, "The change could not be made durable.").Because(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.unsynced[key] == revision {
		delete(d.unsynced, key)
	}
	return nil
}

// write decides and stores a change, but does not wait for the disk.
func (d *documents) write(ctx context.Context, key string, decide func() (any, error)) (revision uint64, err error) {
	if d.writing.Acquire(ctx, 1) != nil {
		return 0, sluice.Passing(sluice.CodeEngineUnavailable, "Too many changes are waiting.")
	}
	defer d.writing.Release(1)
	upToDate := d.host.SoleWriter
	for {
		d.mu.RLock()
		base, pending := d.applied, d.unsynced[key]
		record, err := decide()
		d.mu.RUnlock()
		switch {
		case err != nil && upToDate:
			return 0, err
		case err != nil:
			// Another node may have changed what the decision rests on.
			err, upToDate = d.CatchUp(ctx), true
		case pending != 0:
			err = d.settle(ctx, key, pending)
		default:
			revision, err = d.publish(ctx, key, record, base)
			if err == nil {
				return revision, d.await(ctx, revision)
			}
			if stream.WasConflict(err) {
				err = d.await(ctx, base+1)
			}
		}
		if err != nil {
			return 0, err
		}
	}
}

func (d *documents) publish(ctx context.Context, key string, record any, base uint64) (revision uint64, err error) {
	var document []byte
	if record != nil {
		if document, err = value.Marshal(record); err != nil {
			return 0, err
		}
	}
	msg := newMessage(d.generation(), d.name, key, document)
	if record != nil {
		if err := d.fits(key, len(msg.Data)); err != nil {
			return 0, err
		}
	}
	if err := stream.Fits("The record", len(msg.Data)); err != nil {
		return 0, err
	}
	ack, err := d.host.JS.PublishMsg(ctx, msg, jetstream.WithExpectLastSequence(base))
	if err != nil {
		return 0, stream.NotTaken("the change", err)
	}
	return ack.Sequence, nil
}
