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
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/stream"
)

// A Spool has the calls of a node that wait for an external engine.
type Spool struct {
	max int64 // bytes

	written chan struct{} // holds one token once there is something to hand over

	mu      sync.RWMutex    // held for reading while a call is put in
	host    *stream.Host    // an embedded engine of its own
	running context.Context //nolint:containedctx // ends the stores
	stores  []*store        // oldest first; calls are put in the last one
	next    string          // name of a new store, after an attempt that may have made it
}

// New returns a spool that takes calls while the largest one fits in maxBytes. Open comes next.
func New(maxBytes int64) *Spool {
	return &Spool{max: maxBytes, written: make(chan struct{}, 1)}
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
	names := h.JS.StreamNames(ctx)
	for name := range names.Name() {
		if !strings.HasPrefix(name, stream.SpoolPrefix) {
			continue
		}
		found, err := h.Stream(ctx, h.JS, name)
		if err != nil {
			return nil, err
		}
		st, err := openStore(running, h, found)
		if err != nil {
			return nil, err
		}
		stores = append(stores, st)
	}
	if names.Err() != nil {
		return nil, names.Err()
	}
	if len(stores) > 0 {
		slices.SortFunc(stores, func(a, b *store) int {
			return a.stream.CachedInfo().Created.Compare(b.stream.CachedInfo().Created)
		})
		return stores, nil
	}
	st, err := newStore(ctx, running, h, rand.Text())
	return []*store{st}, err
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
	if used+stream.MaxMessage > s.max {
		return sluice.Passing(sluice.CodeSpoolFull,
			"The engine is away, and there is no more room for calls until it is back.")
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
func (s *Spool) Waiting(
	ctx context.Context, ids correlation.IDs, r correlation.Reference,
) (*correlation.Envelope, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	number, place := r.Spooled()
	for _, st := range s.stores {
		if st.number != number || place <= st.done.Load() {
			continue
		}
		if e, err := st.envelope(ctx, place); err != nil || e != nil && ids.Fits(r, e.TraceID) {
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
