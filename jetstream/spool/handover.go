package spool

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
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
	Host    *stream.Host
	Events  jetstream.Stream
	Markers *delivery.Markers
	IDs     correlation.IDs

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
			to.Host.Log.Warn("Calls in the spool could not be handed over; trying on.", "waiting", s.Count(),
				"error", err)
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
		if err := to.handOver(ctx, st); err != nil {
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

// handOver stores the next calls of a store among the events, with a marker. If an earlier
// attempt stored them without an acknowledgement, its marker shows that.
func (d Destination) handOver(ctx context.Context, st *store) error {
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

// renew deletes the stores whose calls are handed over, and makes a new one if that
// includes the last.
func (s *Spool) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stretch.Of(renewTimeout))
	defer cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.stores[len(s.stores)-1]
	if last.stream.Durable() > 0 && last.waiting() == 0 {
		s.next = cmp.Or(s.next, rand.Text())
		st, err := newStore(ctx, s.running, s.host, s.next)
		if err != nil {
			return err
		}
		s.stores, s.next = append(s.stores, st), ""
	}
	for len(s.stores) > 1 && s.stores[0].waiting() == 0 {
		st := s.stores[0]
		s.stores = s.stores[1:]
		st.stop()
		if err := s.host.JS.DeleteStream(ctx, stream.SpoolPrefix+st.name); err != nil {
			s.host.Log.Warn("What was handed over could not be removed from the spool.", "error", err)
		}
	}
	return nil
}

// renewTimeout bounds how long calls may wait for a new store.
const renewTimeout = 2 * time.Second
