package delivery

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
	"sluice/stretch"
	"sluice/value"
)

const (
	// writeTimeout bounds one attempt to store an event with its marker.
	writeTimeout = 1200 * time.Millisecond
	// together is how many events a node stores with their markers at the same time.
	// The engine takes 50 per stream, from all nodes.
	together = 12
	attempts = 4
)

// Markers let an external engine decide which call of a delivery is the first. A marker is
// stored together with its event or not at all, and only if the delivery has none yet. It
// is in the stream of events, right before its event.
type Markers struct {
	host   *stream.Host
	events jetstream.Stream
	slots  chan struct{}
}

// NewMarkers returns the markers in the stream of events of an external engine.
func NewMarkers(h *stream.Host, events jetstream.Stream) *Markers {
	return &Markers{host: h, events: events, slots: make(chan struct{}, together)}
}

// A marker is what is stored of a delivery. One that was made from a record has the
// sequence and time of its event, and a trace id without the webhook's part.
type marker struct {
	TraceID  string     `json:"traceId"`
	Digest   []byte     `json:"digest"`
	Sequence uint64     `json:"sequence,omitempty"` // 0: the event is right behind it
	At       *time.Time `json:"at,omitempty"`
}

// Write stores the event of a delivery and returns its sequence. If the delivery was
// accepted before, within its window, it stores nothing and returns the first one.
func (m *Markers) Write(
	ctx context.Context, f *sluice.Fingerprint, traceID string, event *nats.Msg,
) (sequence uint64, first *Accepted, err error) {
	if !m.events.CachedInfo().Config.AllowAtomicPublish {
		return 0, nil, tooOld()
	}
	// What was begun is finished even if the caller leaves, but in the caller's time.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stretch.Of(2*writeTimeout))
	defer cancel()
	select {
	case m.slots <- struct{}{}:
		defer func() { <-m.slots }()
	case <-ctx.Done():
		return 0, nil, stream.NotTaken("the event", ctx.Err())
	}
	before := uint64(0) // the marker that may be there
	doubt := false      // an attempt was not answered
	for range attempts {
		sequence, err = m.store(ctx, []*nats.Msg{Marker(f, traceID, before), event})
		if err == nil {
			m.host.Wrote()
			return sequence, nil, nil
		}
		if _, answered := errors.AsType[*jetstream.APIError](err); !answered {
			m.host.Doubt()
			doubt = true
		}
		// After a conflict or no reply, the marker tells what happened.
		known, at, failed := m.Find(ctx, f, sluice.TraceOwner(traceID))
		switch {
		case failed != nil:
			return 0, nil, stream.NotTaken("the event", errors.Join(err, failed))
		case known == nil:
			before = 0
		case doubt && known.TraceID == traceID:
			return known.Sequence, nil, nil // by an attempt that was not acknowledged
		case time.Since(known.At) < f.Window:
			return 0, known, nil
		default:
			before = at // too long ago: a new marker replaces it
		}
	}
	return 0, nil, stream.NotTaken("the event", err)
}

func tooOld() error {
	return sluice.Passing(sluice.CodeEngineTooOld,
		"Repeated deliveries can't be told from new ones by this engine: it needs NATS 2.12 or later.")
}

// store stores a marker and its event, and returns the event's sequence.
func (m *Markers) store(ctx context.Context, messages []*nats.Msg) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, stretch.Of(writeTimeout))
	defer cancel()
	return m.host.StoreTogether(ctx, messages)
}

func markerSubject(key [12]byte) string {
	return stream.DeliveryPrefix + base64.RawURLEncoding.EncodeToString(key[:])
}

// Marker makes the marker of a delivery, which goes right before its event. The engine
// stores it only if the sequence of the newest marker of the delivery is before.
func Marker(f *sluice.Fingerprint, traceID string, before uint64) *nats.Msg {
	content, _ := value.Marshal(marker{TraceID: traceID, Digest: f.Digest[:]}) // texts only
	return stream.ExpectLast(&nats.Msg{Subject: markerSubject(f.Key), Data: content}, before)
}

// Find returns the last accepted delivery with a fingerprint, nil if there is none, and the
// sequence of its marker. The owner is the part of the trace id that stands for the webhook.
func (m *Markers) Find(
	ctx context.Context, f *sluice.Fingerprint, owner string,
) (first *Accepted, at uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, stretch.Of(writeTimeout))
	defer cancel()
	msg, err := stream.Found(m.events.GetLastMsgForSubject(ctx, markerSubject(f.Key)))
	if msg == nil || err != nil {
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
