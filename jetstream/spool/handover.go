package spool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/delivery"
	"sluice/jetstream/stream"
	"sluice/stretch"
)

const (
	handOverRetry   = 500 * time.Millisecond
	handOverTimeout = 5 * time.Second // of one request, and of storing a batch
)

// A Destination takes the calls of a spool: the stream of events of an external engine.
type Destination struct {
	Host      *stream.Host
	Events    jetstream.Stream
	Markers   *delivery.Markers
	IDs       correlation.IDs
	Withdrawn string // subject of the messages that stand for withdrawn ones

	// Stored is called for each event that was stored.
	Stored func(sequence uint64, subject string, e *sluice.Event)
}

// HandOver hands calls over whenever the engine takes them, until ctx ends.
func (s *Spool) HandOver(ctx context.Context, to Destination) {
	for failed := ""; ; {
		var retry <-chan time.Time
		if s.Count() > 0 {
			retry = time.After(handOverRetry)
		}
		select {
		case <-ctx.Done():
			return
		case <-s.written:
		case <-retry:
		}
		waiting := s.Count()
		err := s.handOver(ctx, to)
		switch {
		case err != nil && ctx.Err() == nil && err.Error() != failed:
			failed = err.Error()
			to.Host.Log.Warn("Calls in the spool could not be handed over; trying on.", "waiting", s.Count(), "error", err)
		case err == nil && waiting > 0 && s.Count() == 0:
			failed = ""
			to.Host.Log.Info("The calls in the spool are handed over to the engine.", "calls", waiting)
		}
	}
}

// handOver hands over waiting calls as long as the engine takes them.
func (s *Spool) handOver(ctx context.Context, to Destination) error {
	for to.Host.Ready() == nil && ctx.Err() == nil {
		st := s.first()
		if st.waiting() == 0 {
			return s.renew(ctx)
		}
		if err := to.take(ctx, st); err != nil {
			return err
		}
	}
	return nil
}

// first returns the oldest store in which calls wait, or the last store.
func (s *Spool) first() *store {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, st := range s.stores {
		if st.waiting() > 0 {
			return st
		}
	}
	return s.stores[len(s.stores)-1]
}

// take stores the next calls of a store among the events, with a marker. If an earlier
// attempt stored them without an acknowledgement, its marker shows that.
func (d Destination) take(ctx context.Context, st *store) error {
	ctx, cancel := context.WithTimeout(ctx, stretch.Of(2*handOverTimeout))
	defer cancel()
	before, err := newestMarker(ctx, d.Events, stream.SpooledPrefix+"*.*."+st.name)
	if err != nil {
		return err
	}
	if before != nil && before.last() > st.done.Load() {
		st.done.Store(before.last())
		return nil
	}
	calls, err := st.read(ctx, st.done.Load()+1)
	if err != nil {
		return err
	}
	if len(calls) == 0 { // the disk has lost them
		st.skip()
		return nil
	}
	batch, err := d.compose(ctx, st, calls)
	if err != nil {
		return err
	}
	return d.store(ctx, st, batch, before)
}

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
	made := &batch{marker: marker{First: calls[0].place, Others: make(map[uint64]other)}}
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
			made.Others[c.place] = other{first.Sequence, e.TraceID}
			continue
		}
		if f := e.Fingerprint; f != nil && at != taken {
			keys[f.Key] = true
			made.messages = append(made.messages, delivery.Marker(f, e.TraceID, at))
		}
		id := d.IDs.SpooledID(st.number, c.place, e.TraceID)
		made.messages = append(made.messages, &nats.Msg{Subject: c.Subject, Data: slices.Concat([]byte(`{"correlationId":"`+id+`",`), c.Event[1:])})
		made.add(c.place, uint64(len(made.messages)))
		made.events = append(made.events, e)
		made.places = append(made.places, uint64(len(made.messages)))
	}
	return made, nil
}

// taken stands for the sequence of a delivery's marker if another delivery has the same
// id: then the call becomes an event without a marker.
const taken = ^uint64(0)

// known returns the event that a call has made already, by an attempt that was not
// acknowledged or by another call of the same delivery. If there is none, it returns the
// sequence of the delivery's marker.
func (d Destination) known(ctx context.Context, c *Call, e *sluice.Event) (first *delivery.Accepted, at uint64, err error) {
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
		return nil, taken, nil // the caller was told that it is accepted
	}
	return first, at, nil
}

// withdraw keeps the batch in which a call may be from being stored later. If the batch is
// stored already, withdraw returns the call's event.
func (d Destination) withdraw(ctx context.Context, c *Call, traceID string) (*delivery.Accepted, error) {
	ack, err := d.Host.JS.Publish(ctx, d.Withdrawn, nil, jetstream.WithMsgID(c.ID), jetstream.WithExpectStream(d.Events.CachedInfo().Config.Name))
	if err != nil {
		return nil, stream.NoAnswer(err)
	}
	if !ack.Duplicate {
		return nil, nil
	}
	msg, err := d.Events.GetMsg(ctx, ack.Sequence+c.Place)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, stream.NoAnswer(err)
	}
	e, err := correlation.ReadEnvelope(msg)
	if err != nil || e.TraceID != traceID {
		return nil, nil //nolint:nilerr // it was withdrawn before
	}
	return &delivery.Accepted{Sequence: msg.Sequence, TraceID: traceID}, nil
}

// store stores a batch behind the marker before it.
func (d Destination) store(ctx context.Context, st *store, made *batch, before *marker) error {
	head, err := made.message(st, before)
	if err != nil {
		return err
	}
	last, err := d.Host.StoreTogether(ctx, append([]*nats.Msg{head}, made.messages...))
	if err != nil {
		return fmt.Errorf("a batch was not taken: %w", err)
	}
	d.Host.Wrote()
	at := last - uint64(len(made.messages)) // of the marker
	for i, e := range made.events {
		d.Stored(at+made.places[i], made.messages[made.places[i]-1].Subject, e)
	}
	st.done.Store(made.last())
	return nil
}
