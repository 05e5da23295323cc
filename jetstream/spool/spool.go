// Package spool takes calls while an external engine is away, and hands them over
// when it is back.
//
// A Spool (spool.go) has an embedded engine in the node's data folder, with the same group commit.
// It writes calls to one stream, its store (store.go). Once all calls of a store are handed over,
// a new store takes its place. HandOver (handover.go) stores the calls among the events of the
// external engine, in order. With each batch it stores a marker (marker.go): it says where the
// calls are now, and leads from the spool's ids to the events. A batch is stored only if the
// marker before it is the one expected, so no call is handed over twice.
//
// A Fallback (fallback.go) stands before the store of events: it decides when a call goes
// to the spool, and finds the results of calls that wait there.
package spool

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/stream"
	"sluice/stretch"
)

// A Spool has the calls of a node that wait for an external engine.
type Spool struct {
	max  int64 // bytes
	room int64 // bytes to leave free: the largest call must fit

	written chan struct{} // holds one token once there is something to hand over

	mu      sync.RWMutex    // held for reading while a call is put in
	host    *stream.Host    // an embedded engine of its own
	running context.Context //nolint:containedctx // ends the stores
	stores  []*store        // oldest first; calls are put in the last one
	next    string          // name of a new store, after an attempt that may have made it
}

// New returns a spool that takes calls while room bytes are free of maxBytes. Open comes next.
func New(maxBytes, room int64) *Spool {
	return &Spool{max: maxBytes, room: room, written: make(chan struct{}, 1)}
}

// Open opens the spool on a host, for the first time or after the one before has failed.
func (s *Spool) Open(ctx, running context.Context, h *stream.Host) error {
	stores, err := openStores(ctx, running, h)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.host, s.running, s.stores, s.next = h, running, stores, ""
	s.wake()
	return nil
}

// openStores opens the stores that a host has, or makes the first one.
func openStores(ctx, running context.Context, h *stream.Host) (stores []*store, err error) {
	var found []jetstream.Stream
	names := h.JS.StreamNames(ctx)
	for name := range names.Name() {
		if !strings.HasPrefix(name, stream.SpoolPrefix) {
			continue
		}
		opened, err := h.Stream(ctx, h.JS, name)
		if err != nil {
			return nil, err
		}
		found = append(found, opened)
	}
	if names.Err() != nil {
		return nil, names.Err()
	}
	slices.SortFunc(found, func(a, b jetstream.Stream) int { return a.CachedInfo().Created.Compare(b.CachedInfo().Created) })
	for _, f := range found {
		st, err := openStore(running, h, f)
		if err != nil {
			return nil, err
		}
		stores = append(stores, st)
	}
	if len(stores) == 0 {
		st, err := newStore(ctx, running, h, rand.Text())
		if err != nil {
			return nil, err
		}
		stores = append(stores, st)
	}
	return stores, nil
}

func (s *Spool) wake() {
	select {
	case s.written <- struct{}{}:
	default:
	}
}

// Ready returns nil when there is room for calls.
func (s *Spool) Ready() error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.ready()
}

func (s *Spool) ready() error {
	if err := s.host.Ready(); err != nil {
		return err
	}
	var used int64
	for _, st := range s.stores {
		used += st.bytes.Load()
	}
	if used+s.room > s.max {
		return sluice.Passing(sluice.CodeSpoolFull, "The engine is away, and there is no more room for calls until it is back.")
	}
	return nil
}

// Put puts a call on stable storage. It returns the number of the spool and the call's
// place in it, which are parts of its correlation id.
func (s *Spool) Put(ctx context.Context, c *Call) (spool, place uint64, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.ready(); err != nil {
		return 0, 0, err
	}
	st := s.stores[len(s.stores)-1]
	if place, err = st.put(ctx, c); err != nil {
		return 0, 0, err
	}
	s.wake()
	return st.number, place, nil
}

// Waiting returns what is known of the call that an id leads to, nil if it does not wait
// here.
func (s *Spool) Waiting(ctx context.Context, r correlation.SpooledReference, fits func(traceID string) bool) (*correlation.Envelope, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, st := range s.stores {
		if st.number != r.Spool || r.Place <= st.done.Load() {
			continue
		}
		if e, err := st.envelope(ctx, r.Place); err != nil || e != nil && fits(e.TraceID) {
			return e, err
		}
	}
	return nil, nil
}

// SyncAge returns how old the oldest batch is that is not on stable storage yet.
func (s *Spool) SyncAge() time.Duration {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.host.SyncAge()
}

// Stats returns how many calls wait, and since when.
func (s *Spool) Stats(ctx context.Context) sluice.SpoolStats {
	s.mu.RLock()
	defer s.mu.RUnlock()
	stats := sluice.SpoolStats{MaxBytes: s.max}
	for _, st := range s.stores {
		stats.Waiting += st.waiting()
		stats.Bytes += st.bytes.Load()
		if at := st.oldest(ctx); !at.IsZero() && (stats.Oldest == nil || at.Before(*stats.Oldest)) {
			stats.Oldest = &at
		}
	}
	return stats
}

// Count returns how many calls wait.
func (s *Spool) Count() (n int64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, st := range s.stores {
		n += st.waiting()
	}
	return n
}

// renew deletes the stores whose calls are handed over, and makes a new one if that
// includes the last.
func (s *Spool) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stretch.Of(renewTimeout))
	defer cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.stores[len(s.stores)-1]
	if last.writer.Durable() > 0 && last.waiting() == 0 {
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

// A Fallback stands before the events of an external engine. While that engine is away,
// it puts calls in the spool and answers polls for their results.
type Fallback struct {
	Spool   *Spool
	Events  sluice.Events
	Results sluice.Results
	Host    *stream.Host // of the engine that may be away

	// Address returns the subject of an event and the pipelines that listen to it.
	Address func(e *sluice.Event) (subject string, listeners []string, err error)

	// Encode returns the JSON of an event, or an error if it is too large.
	Encode func(e *sluice.Event, space []byte) ([]byte, error)

	ids    correlation.IDs
	stream jetstream.Stream // of events
}

// SetUp is called before the host is set up.
func (f *Fallback) SetUp(ids correlation.IDs, events jetstream.Stream) { f.ids, f.stream = ids, events }

// Takes reports whether calls go to the spool because of an error of the engine. A node
// that has not reached the engine since its start has no webhooks to call.
func (f *Fallback) Takes(away error) bool {
	return sluice.AsError(away).Code == sluice.CodeEngineUnavailable.Word && f.Host.IsSetUp() && f.stream.CachedInfo().Config.AllowAtomicPublish
}

// Accept implements sluice.Events. Only calls of webhooks go to the spool: their trace ids
// are their own. After a DoubtError the call may be stored already.
func (f *Fallback) Accept(ctx context.Context, e *sluice.Event, wait time.Duration) (sluice.Result, error) {
	result, away := f.Events.Accept(ctx, e, wait)
	isCall := e.Method != "" && e.ReplayOf == ""
	if away == nil || !isCall || !f.Takes(away) {
		return result, away
	}
	subject, listeners, err := f.Address(e)
	if err != nil {
		return result, err
	}
	stored := *e
	stored.Listeners = listeners
	c := &Call{Subject: subject}
	if c.Event, err = f.Encode(&stored, nil); err != nil {
		return result, err
	}
	if e.Fingerprint != nil {
		c.Window = e.Fingerprint.Window // its marker ends the doubt
	} else if doubt, ok := errors.AsType[*stream.DoubtError](away); ok {
		c.ID, c.Place = doubt.ID, doubt.Place
	}
	number, place, err := f.Spool.Put(ctx, c)
	if err != nil {
		return result, sluice.Passing(sluice.CodeEngineUnavailable, sluice.AsError(away).Message+" The spool takes no calls either: "+sluice.AsError(err).Message).Because(errors.Join(away, err))
	}
	result = sluice.Processing(e.TraceID, f.ids.SpooledID(number, place, e.TraceID), e.ReceivedAt)
	result.Spooled, result.Listeners = true, listeners
	return result, nil
}

// Result implements sluice.Results. For a call that waits here, a poll takes as long as it
// may: nothing can end it sooner.
func (f *Fallback) Result(ctx context.Context, correlationID string, wait time.Duration) (sluice.Result, error) {
	e, err := f.waiting(ctx, correlationID)
	if err != nil {
		return sluice.Result{}, err
	}
	if e == nil {
		return f.Results.Result(ctx, correlationID, wait)
	}
	select {
	case <-ctx.Done():
	case <-time.After(wait):
	}
	return sluice.Processing(e.TraceID, correlationID, e.Received), nil
}

// waiting returns what is known of a call that waits here, nil if it does not wait.
func (f *Fallback) waiting(ctx context.Context, correlationID string) (*correlation.Envelope, error) {
	if !f.Host.IsSetUp() {
		return nil, nil
	}
	r, ok := f.ids.ParseSpooled(correlationID)
	if !ok {
		return nil, nil
	}
	return f.Spool.Waiting(ctx, r, func(traceID string) bool { return f.ids.FitsSpooled(r, traceID) })
}
