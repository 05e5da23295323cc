package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
	"sluice/stretch"
)

const (
	// writeTimeout bounds one attempt to store an event with its marker.
	writeTimeout = 1200 * time.Millisecond
	// together bounds the events that a node stores so at the same time: the
	// engine takes 50 of a stream, from all nodes.
	together = 12
	attempts = 4
)

// Markers let an external engine decide which call of a delivery is the first. A
// marker is stored together with its event or not at all, on condition that there
// is none yet. Both are in the stream of events: the marker right before the
// event.
type Markers struct {
	host   *stream.Host
	events jetstream.Stream
	places chan struct{}
}

// NewMarkers returns the markers in the stream of events of an external engine.
func NewMarkers(h *stream.Host, events jetstream.Stream) *Markers {
	return &Markers{host: h, events: events, places: make(chan struct{}, together)}
}

// A marker is what is stored of a delivery. One that was made of a record has its
// event's place and time in it, and a trace id without the webhook's part.
type marker struct {
	TraceID  string     `json:"traceId"`
	Digest   []byte     `json:"digest"`
	Sequence uint64     `json:"sequence,omitempty"` // 0: the event is right behind it
	At       *time.Time `json:"at,omitempty"`
}

// Write stores the event of a delivery, and gives its sequence. If the delivery
// was accepted before, within its window, it stores nothing and gives that one.
func (m *Markers) Write(ctx context.Context, f *sluice.Fingerprint, traceID string, event *nats.Msg) (sequence uint64, first *Accepted, err error) {
	if !m.events.CachedInfo().Config.AllowAtomicPublish {
		return 0, nil, stream.Unavailable(sluice.CodeEngineTooOld, "Repeated deliveries can't be told from new ones by this engine: it needs NATS 2.12 or later.")
	}
	// What was begun is carried through, but for the time that callers have.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stretch.Of(2*writeTimeout))
	defer cancel()
	select {
	case m.places <- struct{}{}:
		defer func() { <-m.places }()
	case <-ctx.Done():
		return 0, nil, stream.NotTaken("the event", ctx.Err())
	}
	before := uint64(0) // the marker that may be there
	for range attempts {
		sequence, err = m.store(ctx, []*nats.Msg{Marker(f, traceID, before), event})
		if err == nil {
			m.host.Wrote()
			return sequence, nil, nil
		}
		if _, answered := errors.AsType[*jetstream.APIError](err); !answered {
			m.host.Doubt()
		}
		// Be it a conflict or no answer: the marker tells what happened.
		known, at, failed := m.Find(ctx, f, sluice.TraceOwner(traceID))
		switch {
		case failed != nil:
			return 0, nil, stream.NotTaken("the event", errors.Join(err, failed))
		case known == nil:
			before = 0
		case known.TraceID == traceID:
			return known.Sequence, nil, nil // an attempt that was not answered
		case time.Since(known.At) < f.Window:
			return 0, known, nil
		default:
			before = at // too long ago: a new one in its place
		}
	}
	return 0, nil, stream.NotTaken("the event", err)
}

// store stores a marker and its event, and gives the event's sequence.
func (m *Markers) store(ctx context.Context, messages []*nats.Msg) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, stretch.Of(writeTimeout))
	defer cancel()
	return m.host.StoreTogether(ctx, messages)
}

// Marker makes the marker of a delivery, to be stored right before its event on
// condition that the marker before is the one with a sequence.
func Marker(f *sluice.Fingerprint, traceID string, before uint64) *nats.Msg {
	content, _ := json.Marshal(marker{TraceID: traceID, Digest: f.Digest[:]}) //nolint:errchkjson // texts only
	return stream.ExpectLast(&nats.Msg{Subject: markerSubject(f.Key), Data: content}, before)
}

// Find returns the delivery that was accepted last with a fingerprint, nil if there
// is none, and where its marker is. The owner is the part of the trace id that
// stands for the webhook.
func (m *Markers) Find(ctx context.Context, f *sluice.Fingerprint, owner string) (first *Accepted, at uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, stretch.Of(writeTimeout))
	defer cancel()
	msg, err := m.events.GetLastMsgForSubject(ctx, markerSubject(f.Key))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	var known marker
	if err := json.Unmarshal(msg.Data, &known); err != nil || len(known.Digest) != 3 {
		return nil, 0, errors.Join(err, errors.New("a marker of a delivery can't be read"))
	}
	first = &Accepted{Sequence: msg.Sequence + 1, TraceID: known.TraceID, At: msg.Time, Digest: [3]byte(known.Digest)}
	if known.Sequence > 0 && known.At != nil {
		first.Sequence, first.TraceID, first.At = known.Sequence, owner+known.TraceID, *known.At
	}
	return first, msg.Sequence, nil
}
