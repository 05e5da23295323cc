package delivery

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
	"sluice/value"
)

const (
	blockSize  = 4096 // events that a record covers
	blocksKept = 64   // incomplete ones

	readBatch = 1000 // messages that are read at a time
)

// Records store what is in the index. A record covers a block of events: it has the entries
// of the deliveries among them, and is written once all events of the block are stored. A
// start reads the records, and the events that no record covers: the newest ones, and those
// around a failure.
type Records struct {
	host   *stream.Host
	index  *Index
	stream stream.Written
	events jetstream.Stream

	mu     sync.Mutex
	blocks map[uint64]*block // by their number
	full   chan *block       // to be written
}

// A block has the entries of consecutive events.
type block struct {
	first, last uint64 // events that it covers
	noted       int    // how many of them are noted
	entries     []byte
}

// add adds an entry. Kinds below len(keeps) are those of entries without an owner.
func (b *block) add(kind int, e entry) {
	b.entries = append(append(b.entries, byte(len(keeps)+kind)), e[:]...)
}

// NewRecords returns the records of an index. They need SetUp.
func NewRecords(h *stream.Host, index *Index) *Records {
	return &Records{host: h, index: index, blocks: make(map[uint64]*block), full: make(chan *block, blocksKept)}
}

// SetUp creates the stream if it is missing, fills the index from it and from the stream of
// events, and writes records until running ends.
func (r *Records) SetUp(ctx, running context.Context, events jetstream.Stream) (err error) {
	r.events = events
	if r.stream, err = r.host.OpenWritten(ctx, running, recordConfig, stream.WriterOptions{}); err != nil {
		return err
	}
	if err := r.load(ctx); err != nil {
		return err
	}
	r.host.Start(func() { r.write(running) })
	told := int64(0)
	r.host.Every(running, time.Minute, func(now time.Time) {
		r.index.Expire(now)
		if dropped := r.index.Dropped(); dropped > told {
			r.host.Log.Warn("Delivery ids were forgotten before their time, of the webhooks that have most of them: "+
				"a repeated call of theirs may be taken for a new one. A larger --memory-limit keeps more.",
				"count", dropped-told)
			told = dropped
		}
	})
	return nil
}

var recordConfig = jetstream.StreamConfig{
	Name:        stream.Deliveries,
	Subjects:    []string{stream.DeliveriesSubject},
	MaxAge:      stream.DeliveriesAge,
	MaxBytes:    stream.DeliveriesBytes,
	AllowDirect: true,
}

// Note notes an event on stable storage. Every event must be noted once.
func (r *Records) Note(sequence uint64, event *sluice.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	number := sequence / blockSize
	b := r.blocks[number]
	if b == nil {
		b = &block{first: max(number*blockSize, 1), last: (number+1)*blockSize - 1}
		r.blocks[number] = b
		for old := range r.blocks {
			if old+blocksKept < number {
				delete(r.blocks, old) // a start reads its events
			}
		}
	}
	if sequence < b.first {
		return
	}
	b.noted++
	if f := event.Fingerprint; f != nil {
		b.add(kindOf(f.Window), entryOf(f, sequence, event.TraceID, event.ReceivedAt))
	}
	if uint64(b.noted) == b.last-b.first+1 {
		delete(r.blocks, number)
		select {
		case r.full <- b:
		default: // a start reads its events
		}
	}
}

func (r *Records) write(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case b := <-r.full:
			if err := r.put(ctx, b); err != nil && ctx.Err() == nil && r.host.Connected() == nil {
				r.host.Log.Warn("A record of deliveries could not be written; the next start takes longer.",
					"error", err)
			}
		}
	}
}

func (r *Records) put(ctx context.Context, b *block) error {
	data := binary.BigEndian.AppendUint64(nil, b.first)
	data = append(binary.BigEndian.AppendUint64(data, b.last), b.entries...)
	_, err := r.stream.Write(ctx, stream.DeliveriesSubject, nil, data)
	return err
}

// Finish writes the record of the newest events before the engine stops, so that the next
// start reads only records. Last is the newest event.
func (r *Records) Finish(ctx context.Context, last uint64) {
	if r.stream.Writer == nil || r.host.Connected() != nil {
		return
	}
	r.mu.Lock()
	b := r.blocks[last/blockSize]
	delete(r.blocks, last/blockSize)
	r.mu.Unlock()
	if b == nil || last < b.first || uint64(b.noted) != last-b.first+1 {
		return
	}
	b.last = last
	_ = r.put(ctx, b) // the next start reads the events
}

// ReadAtStart makes the next start of an embedded engine that has no records look for
// deliveries among its events. Otherwise a start treats existing events as having no
// delivery ids.
func ReadAtStart(ctx context.Context, h *stream.Host) error {
	if _, err := h.OpenStream(ctx, h.JS, recordConfig); err != nil {
		return err
	}
	_, err := h.JS.Publish(ctx, stream.DeliveriesSubject, make([]byte, 16)) // covers no event
	return err
}

// Convert turns records that were restored from an embedded engine to an external one into
// markers, and deletes the records.
func Convert(ctx context.Context, h *stream.Host) (err error) {
	r := NewRecords(h, NewIndex(0))
	if r.events, err = h.Stream(ctx, h.JS, stream.Events); err != nil {
		return err
	}
	records, err := h.JS.Stream(ctx, stream.Deliveries)
	if err != nil {
		return err
	}
	if r.stream, err = h.StartWriter(ctx, records, stream.WriterOptions{}); err != nil {
		return err
	}
	if err := r.load(ctx); err != nil {
		return err
	}
	if err := r.index.writeMarkers(ctx, h.JS); err != nil {
		return fmt.Errorf("a marker was not stored: %w", err)
	}
	return h.JS.DeleteStream(ctx, stream.Deliveries)
}

// writeMarkers writes a marker for each known delivery. The marker can't stand right before
// its event, so it names the event.
func (x *Index) writeMarkers(ctx context.Context, js jetstream.JetStream) error {
	var pending stream.Pending
	for i := range x.shards {
		for kind := range x.shards[i].histories {
			s := &x.shards[i].histories[kind]
			for number := s.first; number < s.next; number++ {
				e := s.at(number)
				at, digest := e.at(), e.digest()
				content, err := value.Marshal(marker{
					TraceID: e.accepted("").TraceID, Digest: digest[:], Sequence: e.sequence(), At: &at,
				})
				if err != nil {
					return err
				}
				if err := pending.Add(ctx, js, &nats.Msg{Subject: markerSubject(*e.key()), Data: content}); err != nil {
					return err
				}
			}
		}
	}
	return pending.Wait(ctx)
}
