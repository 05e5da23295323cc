package delivery

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"time"

	"sluice/jetstream/correlation"
	"sluice/jetstream/stream"
)

// load fills the index from the records, and from the events that no record covers.
func (r *Records) load(ctx context.Context) error {
	info, err := r.events.Info(ctx)
	if err != nil {
		return err
	}
	last := info.State.LastSeq
	if r.stream.CachedInfo().State.LastSeq == 0 {
		// Without records, none of the events so far is a delivery. The first
		// record says so, even if there are no events.
		r.begin(last + 1)
		return r.put(ctx, &block{first: 1, last: last})
	}
	covered, err := r.readRecords(ctx)
	if err != nil {
		return err
	}
	from, err := r.host.SequenceAt(ctx, r.events, info.State, time.Now().Add(-stream.DeliveryAge))
	if err != nil {
		return err
	}
	next := max(from, info.State.FirstSeq, 1)
	for _, b := range append(covered, block{first: last + 1, last: last}) {
		if b.first > next {
			if err := r.readEvents(ctx, next, b.first-1); err != nil {
				return err
			}
		}
		next = max(next, b.last+1)
	}
	r.begin(last + 1)
	return nil
}

// begin makes the block of the next event, unless there is one.
func (r *Records) begin(next uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	number := next / blockSize
	if r.blocks[number] == nil {
		r.blocks[number] = &block{first: max(next, 1), last: (number+1)*blockSize - 1}
	}
}

// readRecords puts the entries of all records into the index, and returns the blocks that
// they cover, in order.
func (r *Records) readRecords(ctx context.Context) (covered []block, err error) {
	now := time.Now()
	for msg, err := range r.host.All(ctx, stream.Deliveries, stream.Range{Sequence: 1, Count: readBatch}) {
		if err != nil {
			return nil, err
		}
		if len(msg.Data) < 16 {
			continue
		}
		covered = append(covered, block{
			first: binary.BigEndian.Uint64(msg.Data), last: binary.BigEndian.Uint64(msg.Data[8:]),
		})
		r.index.read(msg.Data[16:], now)
	}
	slices.SortFunc(covered, func(a, b block) int { return cmp.Compare(a.first, b.first) })
	return covered, nil
}

// read adds the entries of a record.
func (x *Index) read(data []byte, now time.Time) {
	for len(data) > unowned {
		var e entry
		kind, size := int(data[0]), unowned
		if kind >= len(keeps) {
			kind, size = kind-len(keeps), len(e)
		}
		data = data[1+copy(e[:size], data[1:]):]
		x.learn(kind, e, now)
	}
}

// readEvents puts events that no record covers into the index, and writes the missing
// records, except that of the newest block.
func (r *Records) readEvents(ctx context.Context, first, last uint64) error {
	for first <= last {
		number := first / blockSize
		b := &block{first: first, last: (number+1)*blockSize - 1}
		if err := r.readBlock(ctx, b, min(b.last, last)); err != nil {
			return err
		}
		if b.last <= last {
			if err := r.put(ctx, b); err != nil {
				return err
			}
		} else {
			r.mu.Lock()
			b.noted = int(last - first + 1)
			r.blocks[number] = b
			r.mu.Unlock()
		}
		first = b.last + 1
	}
	return nil
}

// readBlock reads the events of a block, up to last.
func (r *Records) readBlock(ctx context.Context, b *block, last uint64) error {
	now := time.Now()
	name := r.events.CachedInfo().Config.Name
	for msg, err := range r.host.All(ctx, name, stream.Range{Sequence: b.first, Count: readBatch}) {
		if err != nil || msg.Sequence > last {
			return err
		}
		envelope, err := correlation.ReadEnvelope(msg)
		f := envelope.Fingerprint
		if err != nil || f == nil {
			continue // not a delivery
		}
		kind := len(keeps) - 1 // the window of its webhook is not known here
		e := entryOf(f, msg.Sequence, envelope.TraceID, envelope.Received)
		r.index.learn(kind, e, now)
		b.add(kind, e)
		if msg.Sequence == last {
			break
		}
	}
	return nil
}
