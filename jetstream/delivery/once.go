// Package delivery remembers which deliveries of senders were accepted, so that a repeated
// one makes no second event (docs/decisions/0016).
//
// Once (once.go) stands before the store of events and answers a repeated delivery with
// the result of the first. The embedded engine has one writer, so Indexed asks an Index in
// memory (index.go), which Records (records.go) restore at a start. On an external engine
// several nodes accept calls, so there Marked lets the engine decide, by a marker that is
// stored together with its event or not at all (marker.go).
//
// Package sender knows where in a call its delivery id is.
package delivery

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/stream"
	"sluice/stretch"
)

// Once stands before the store of events, and makes one event of a delivery however often
// it is repeated. Events that are not deliveries pass through.
type Once interface {
	sluice.Events
	sluice.Batches

	// SetUp prepares it for the stored events, until running ends.
	SetUp(ctx, running context.Context, events stream.Written, ids correlation.IDs) error

	// Stored is told of each event on stable storage, before it is answered.
	Stored(sequence uint64, e *sluice.Event)

	// Dropped returns how many ids were forgotten before their time, since the start.
	Dropped() int64

	// Finish writes down what would be lost with the process.
	Finish()
}

// A Write stores an event, as stream.Writer does.
type Write func(ctx context.Context, subject string, header nats.Header, data []byte) (sequence uint64, err error)

// A WriteAll stores a call and the events that it brings, all or none, and returns their sequences.
type WriteAll func(ctx context.Context, messages []*nats.Msg) (sequences []uint64, err error)

// An Engine is the store of events that Once stands before.
type Engine interface {
	sluice.Events
	sluice.Batches
	sluice.Results

	// AcceptBy is Accept for an event that write stores.
	AcceptBy(ctx context.Context, e *sluice.Event, wait time.Duration, write Write) (sluice.Result, error)

	// AcceptBatchBy is AcceptBatch for a call that write stores.
	AcceptBatchBy(ctx context.Context, b sluice.Batch, write WriteAll) (sluice.Result, []sluice.StoredItem, error)
}

// A repeater answers deliveries that were accepted before.
type repeater struct {
	results sluice.Results
	ids     correlation.IDs
	events  jetstream.Stream
}

// repeat answers a repeated delivery with the result of the first call. If that result is
// gone, the delivery is still an accepted one. A call with another body is not told what
// became of the first one.
func (r repeater) repeat(
	ctx context.Context, first *Accepted, e *sluice.Event, wait time.Duration,
) (result sluice.Result, err error) {
	same, err := r.isSame(ctx, first, e)
	id := r.ids.ID(first.Sequence, first.TraceID)
	switch {
	case err != nil:
		return result, err
	case same:
		if result, err = r.results.Result(ctx, id, wait); err != nil && sluice.AsError(err).Kind != sluice.Gone {
			return result, err
		}
	}
	if !same || err != nil {
		result = sluice.Accepted(first.TraceID, id, first.At)
	}
	result.Duplicate, result.Differs, result.Sequence = true, !same, first.Sequence
	return result, nil
}

// linked returns an event that a replayed run sends as a replay of what the first run has sent, if that
// is known.
func (r repeater) linked(
	ctx context.Context, e *sluice.Event, find func(context.Context, *sluice.Fingerprint, string) (*Accepted, error),
) *sluice.Event {
	if e.Repeats == nil {
		return e
	}
	first, err := find(ctx, e.Repeats, sluice.TraceOwner(e.TraceID))
	if first == nil || err != nil {
		return e
	}
	repeated := *e
	if _, err := r.isSame(ctx, first, &sluice.Event{Fingerprint: e.Repeats, TraceID: e.TraceID}); err == nil {
		repeated.FirstID = r.ids.ID(first.Sequence, first.TraceID)
	}
	return &repeated
}

// isSame reports whether a call has the body of the first one with its id. The digest at hand can
// only show that bodies differ. The hash in the event shows that they are equal. If the event is
// gone, so is all that could be told of it. What a run sends is the same whatever it carries, and
// the trace id of the first one may be in the event alone.
func (r repeater) isSame(ctx context.Context, first *Accepted, e *sluice.Event) (bool, error) {
	if first.Digest != e.Fingerprint.Digest {
		return false, nil
	}
	if e.Method == "" && first.Doubtful {
		first.TraceID = e.TraceID
	}
	msg, err := stream.Found(r.events.GetMsg(ctx, first.Sequence))
	if msg == nil || err != nil {
		return err == nil, err
	}
	known, err := correlation.ReadEnvelope(msg)
	if err == nil {
		first.TraceID = known.TraceID
	}
	equal := known.BodyHash == "" || known.BodyHash == e.BodyHash
	return err != nil || equal, nil //nolint:nilerr // nothing could be told of what can't be read
}

// Indexed is the Once of an engine that only this process writes to. It decides by an index
// in memory.
type Indexed struct {
	next    Engine
	host    *stream.Host
	index   *Index
	records *Records
	events  stream.Written
	ids     correlation.IDs
}

// NewIndexed returns a Once before an engine. For memory, see NewIndex.
func NewIndexed(h *stream.Host, memory int64, next Engine) *Indexed {
	index := NewIndex(memory)
	return &Indexed{next: next, host: h, index: index, records: NewRecords(h, index)}
}

// Count returns how many ids are remembered.
func (o *Indexed) Count() int64 { return o.index.Count() }

// Dropped implements Once.
func (o *Indexed) Dropped() int64 { return o.index.Dropped() }

// SetUp implements Once.
func (o *Indexed) SetUp(ctx, running context.Context, events stream.Written, ids correlation.IDs) error {
	o.events, o.ids = events, ids
	return o.records.SetUp(ctx, running, events.Stream)
}

// Stored implements Once.
func (o *Indexed) Stored(sequence uint64, e *sluice.Event) {
	o.records.Note(sequence, e)
	if e.Fingerprint != nil {
		o.index.End(e.Fingerprint, sequence, e.TraceID, e.ReceivedAt)
	}
}

// Finish implements Once.
func (o *Indexed) Finish() {
	const patience = 2 * time.Second
	if o.events.Writer == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), stretch.Of(patience))
	defer cancel()
	o.records.Finish(ctx, o.events.Durable())
}

// Accept implements sluice.Events.
func (o *Indexed) Accept(ctx context.Context, e *sluice.Event, wait time.Duration) (result sluice.Result, err error) {
	if e.Fingerprint == nil {
		return o.next.Accept(ctx, e, wait)
	}
	e = o.repeater().linked(ctx, e, o.index.Find)
	if err := o.host.Ready(); err != nil {
		return result, err // before Begin, so that there is no doubt
	}
	first, behind, err := o.begin(ctx, e)
	if err != nil {
		return result, err
	}
	if first != nil {
		return o.repeater().repeat(ctx, first, e, wait)
	}
	result, err = o.next.Accept(ctx, e, wait) // Stored ends what was begun
	if err != nil {
		o.fail(e, behind, err)
	}
	return result, err
}

// begin returns the first call of a delivery, nil if there is none: then it has begun, and an attempt that is not
// acknowledged would come after the event behind.
func (o *Indexed) begin(ctx context.Context, e *sluice.Event) (first *Accepted, behind uint64, err error) {
	behind = o.events.Durable()
	first, doubt, err := o.index.Begin(ctx, e.Fingerprint, sluice.TraceOwner(e.TraceID), e.ReceivedAt)
	if err != nil || first != nil || doubt == nil {
		return first, behind, err
	}
	if first, err = o.find(ctx, e, *doubt); first != nil {
		o.index.End(e.Fingerprint, first.Sequence, first.TraceID, first.At)
	} else if err != nil {
		o.fail(e, *doubt, err)
	}
	return first, *doubt, err
}

// fail notes that a delivery that has begun is not known to be stored.
func (o *Indexed) fail(e *sluice.Event, behind uint64, err error) {
	o.index.Fail(e.Fingerprint, sluice.AsError(err).Kind == sluice.Unavailable, behind)
}

func (o *Indexed) repeater() repeater { return repeater{o.next, o.ids, o.events} }

// find looks behind an event for one that an unacknowledged attempt of a delivery stored.
// It returns nil if there is none, and Unavailable if it is not durable yet.
func (o *Indexed) find(ctx context.Context, e *sluice.Event, behind uint64) (*Accepted, error) {
	for msg, err := range o.host.All(ctx, o.events.CachedInfo().Config.Name, stream.Range{
		Sequence: behind + 1, Subject: e.MessageKey(), Count: 256,
	}) {
		if err != nil {
			return nil, err
		}
		found, err := correlation.ReadEnvelope(msg)
		if err != nil || found.Fingerprint == nil || found.Fingerprint.Key != e.Fingerprint.Key {
			continue
		}
		if msg.Sequence > o.events.Durable() {
			return nil, sluice.Passing(sluice.CodeEngineUnavailable,
				"The first call of this delivery is not durable yet.")
		}
		return &Accepted{
			Sequence: msg.Sequence, TraceID: found.TraceID, At: found.Received, Digest: found.Fingerprint.Digest,
		}, nil
	}
	return nil, nil
}

// Marked is the Once of an engine that several nodes write to. The engine decides, by a
// marker that is stored with the event or not at all.
type Marked struct {
	next    Engine
	host    *stream.Host
	ids     correlation.IDs
	Markers *Markers // set up with it
}

// NewMarked returns a Once before an engine.
func NewMarked(h *stream.Host, next Engine) *Marked { return &Marked{next: next, host: h} }

// SetUp implements Once.
func (o *Marked) SetUp(_, _ context.Context, events stream.Written, ids correlation.IDs) error {
	o.ids, o.Markers = ids, NewMarkers(o.host, events)
	return nil
}

// Stored implements Once: the marker is stored already.
func (o *Marked) Stored(uint64, *sluice.Event) {}

// Finish implements Once.
func (o *Marked) Finish() {}

// Dropped implements Once: ids are kept with their events.
func (*Marked) Dropped() int64 { return 0 }

// A repeatedError says that a delivery was accepted before.
type repeatedError struct{ first *Accepted }

// Error implements error.
func (*repeatedError) Error() string { return "the delivery was accepted before" }

// Accept implements sluice.Events.
func (o *Marked) Accept(ctx context.Context, e *sluice.Event, wait time.Duration) (sluice.Result, error) {
	if e.Fingerprint == nil {
		return o.next.Accept(ctx, e, wait)
	}
	repeats := repeater{o.next, o.ids, o.Markers.events}
	e = repeats.linked(ctx, e, func(ctx context.Context, f *sluice.Fingerprint, owner string) (*Accepted, error) {
		first, _, err := o.Markers.Find(ctx, f, owner)
		return first, err
	})
	result, err := o.next.AcceptBy(ctx, e, wait,
		func(ctx context.Context, subject string, header nats.Header, data []byte) (uint64, error) {
			sequence, first, err := o.Markers.Write(ctx, e.Fingerprint, e.TraceID,
				&nats.Msg{Subject: subject, Header: header, Data: data})
			if first != nil {
				return 0, &repeatedError{first}
			}
			return sequence, err
		})
	if repeated, ok := errors.AsType[*repeatedError](err); ok {
		return repeats.repeat(ctx, repeated.first, e, wait)
	}
	return result, err
}
