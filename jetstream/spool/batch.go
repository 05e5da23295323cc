package spool

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/delivery"
	"sluice/jetstream/stream"
)

// A batch has the calls that are handed over together.
type batch struct {
	marker
	messages []*nats.Msg // behind the marker
	events   []*sluice.Event
	places   []uint64 // of the events, behind the marker
}

// compose makes a batch of calls. Those that may be stored already are looked up one by one. On a
// distant engine that is slow: half the time is for it, and the batch ends when it runs out.
func (d Destination) compose(ctx context.Context, st *store, calls []*Call) (*batch, error) {
	made := &batch{marker: marker{First: calls[0].place, Others: make(map[uint64]Found)}}
	keys := make(map[[12]byte]bool) // of deliveries
	end, _ := ctx.Deadline()
	enough := time.Now().Add(time.Until(end) / 2) // the other half is for storing them
	for i, c := range calls {
		if i > 0 && time.Now().After(enough) {
			break
		}
		e := new(sluice.Event)
		if err := json.Unmarshal(c.Event, e); err != nil {
			st.host.Log.Error("A call in the spool can't be read; it is lost.", "place", c.place, "error", err)
			made.add(c.place, 0)
			continue
		}
		if e.Fingerprint != nil && keys[e.Fingerprint.Key] {
			break // the marker of the earlier call must be stored first
		}
		first, at, err := d.known(ctx, c, e)
		if err != nil {
			return nil, err
		}
		if first != nil {
			made.add(c.place, 0)
			made.Others[c.place] = Found{first.Sequence, e.TraceID}
			continue
		}
		if f := e.Fingerprint; f != nil && at != occupied {
			keys[f.Key] = true
			made.messages = append(made.messages, delivery.Marker(f, e.TraceID, at))
		}
		id := d.IDs.SpooledID(st.number, c.place, e.TraceID)
		ids := `{"correlationId":"` + id + `",`
		if e.ForwardID == "" && e.FirstID == "" {
			ids += `"forwardId":"` + id + `",` // it has no other id by which its caller knows it
		}
		data := append([]byte(ids), c.Event[1:]...)
		made.messages = append(made.messages, &nats.Msg{Subject: c.Subject, Data: data})
		made.add(c.place, uint64(len(made.messages)))
		made.events = append(made.events, e)
		made.places = append(made.places, uint64(len(made.messages)))
	}
	return made, nil
}

// occupied stands for the sequence of a delivery's marker if another delivery has the same
// id: then the call becomes an event without a marker.
const occupied = ^uint64(0)

// known returns the event that a call has made already, by an attempt that was not
// acknowledged or by another call of the same delivery. If there is none, it returns the
// sequence of the delivery's marker.
func (d Destination) known(
	ctx context.Context, c *Call, e *sluice.Event,
) (first *delivery.Accepted, at uint64, err error) {
	if c.ID != "" {
		if first, err = d.withdraw(ctx, c, e.TraceID); first != nil || err != nil {
			return first, 0, err
		}
	}
	f := e.Fingerprint
	if f == nil {
		return nil, 0, nil
	}
	first, at, err = d.Markers.Find(ctx, f, sluice.TraceOwner(e.TraceID))
	switch {
	case err != nil:
		return nil, 0, stream.NoAnswer(err)
	case first == nil || first.TraceID == e.TraceID:
		return first, at, nil
	case e.ReceivedAt.Sub(first.At) >= c.Window:
		return nil, at, nil // too long ago: a new marker replaces it
	case first.Digest != f.Digest:
		return nil, occupied, nil // the caller was told that it is accepted
	}
	return first, at, nil
}

// withdraw keeps the batch in which a call may be from being stored later. If the batch is
// stored already, withdraw returns the call's event.
func (d Destination) withdraw(ctx context.Context, c *Call, traceID string) (*delivery.Accepted, error) {
	ack, err := d.Host.JS.Publish(ctx, stream.WithdrawnSubject, nil, jetstream.WithMsgID(c.ID),
		jetstream.WithExpectStream(d.Events.CachedInfo().Config.Name))
	if err != nil {
		return nil, stream.NoAnswer(err)
	}
	if !ack.Duplicate {
		return nil, nil
	}
	msg, err := stream.Found(d.Events.GetMsg(ctx, ack.Sequence+c.Place))
	if msg == nil || err != nil {
		return nil, err
	}
	e, err := correlation.ReadEnvelope(msg)
	if err != nil || e.TraceID != traceID {
		return nil, nil //nolint:nilerr // it was withdrawn before
	}
	return &delivery.Accepted{Sequence: msg.Sequence, TraceID: traceID}, nil
}
