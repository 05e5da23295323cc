package record

import (
	"context"
	"encoding/json"

	"github.com/nats-io/nats.go/jetstream"
)

// fill fills the copy. All values come in their order, at most two of a key: reading a million of them takes
// the engine less time than finding the newest ones.
func (d *documents) fill(ctx context.Context) (err error) {
	// Known before the first value comes: those up to here are among them, even if the newest messages of the
	// stream are gone.
	last := d.stream.CachedInfo().State.LastSeq
	if err := d.host.Insist(ctx, "the bucket "+d.name, func(ctx context.Context) (err error) {
		d.changes, err = d.host.Follow(ctx, d.stream, jetstream.OrderedConsumerConfig{})
		return err
	}); err != nil {
		return err
	}
	if err := d.changes.Stored(ctx, d.apply); err != nil {
		d.changes.Stop()
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.applied = max(d.applied, last)
	return nil
}

// apply brings a change into the copy. One that can't be opened is left out, since nobody knows which
// record it is about.
func (d *documents) apply(msg jetstream.Msg, meta *jetstream.MsgMetadata) {
	revision := meta.Sequence.Stream
	key, document, err := openMessage(d.generation(), d.name, msg)
	var put func()
	if err == nil {
		put, err = d.read(key, document)
	}
	if err != nil {
		d.host.Log.Error("A stored record can't be read; it is left out.", "bucket", d.name,
			"revision", revision, "error", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil {
		put()
		size := 0
		if document != nil {
			size = len(msg.Data())
		}
		d.weigh(key, size)
		if d.disk != nil {
			d.unsynced[key] = revision
		}
	}
	d.applied = max(d.applied, revision)
	close(d.moved)
	d.moved = make(chan struct{})
}

// readDocument returns what puts a record into the copy, or takes it out.
func (b *Bucket[T]) readDocument(key string, document []byte) (put func(), err error) {
	if document == nil {
		return func() { b.replace(key, nil) }, nil
	}
	after := new(T)
	return func() { b.replace(key, after) }, json.Unmarshal(document, after)
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
func (d *documents) Changed() <-chan struct{} {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.moved
}
