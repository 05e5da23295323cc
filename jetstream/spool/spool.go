package spool

import (
	"cmp"
	"context"
	"crypto/rand"
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
	host *stream.Host // an embedded engine of its own
	max  int64        // bytes
	room int64        // that must be left for a call: that of the largest

	running context.Context //nolint:containedctx // ends the boxes
	written chan struct{}   // holds one token once there is something to hand over

	mu    sync.RWMutex // held for reading while a call is put in
	boxes []*box       // oldest first; calls are put in the last one
	next  string       // name of a box that was to be made, and may have been
}

// Open opens the spool on a host. It takes calls until its bytes are max, and
// always leaves room for one that large.
func Open(ctx, running context.Context, h *stream.Host, maxBytes, room int64) (*Spool, error) {
	s := &Spool{host: h, max: maxBytes, room: room, running: running, written: make(chan struct{}, 1)}
	var found []jetstream.Stream
	names := h.JS.StreamNames(ctx)
	for name := range names.Name() {
		if !strings.HasPrefix(name, stream.SpoolPrefix) {
			continue
		}
		opened, err := h.JS.Stream(ctx, name)
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
		b, err := openBox(running, h, f)
		if err != nil {
			return nil, err
		}
		s.boxes = append(s.boxes, b)
	}
	if len(s.boxes) == 0 {
		b, err := newBox(ctx, running, h, rand.Text())
		if err != nil {
			return nil, err
		}
		s.boxes = append(s.boxes, b)
	}
	s.wake()
	return s, nil
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
	for _, b := range s.boxes {
		used += b.bytes.Load()
	}
	if used+s.room > s.max {
		return stream.Unavailable(sluice.CodeSpoolFull, "The engine is away, and there is no more room for calls until it is back.")
	}
	return nil
}

// Put stores a call on stable storage, and says where: the number of the spool and
// the call's place in it, as they are part of correlation ids.
func (s *Spool) Put(ctx context.Context, c *Call) (spool, place uint64, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.ready(); err != nil {
		return 0, 0, err
	}
	b := s.boxes[len(s.boxes)-1]
	if place, err = b.put(ctx, c); err != nil {
		return 0, 0, err
	}
	s.wake()
	return b.number, place, nil
}

// Waiting returns what is known of the call that an id leads to while it waits here,
// nil if it does not.
func (s *Spool) Waiting(ctx context.Context, r correlation.SpooledReference, fits func(traceID string) bool) (*correlation.Envelope, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, b := range s.boxes {
		if b.number != r.Spool || r.Place <= b.done.Load() {
			continue
		}
		if e, err := b.envelope(ctx, r.Place); err != nil || e != nil && fits(e.TraceID) {
			return e, err
		}
	}
	return nil, nil
}

// Stats tells what waits.
func (s *Spool) Stats(ctx context.Context) sluice.SpoolStats {
	s.mu.RLock()
	defer s.mu.RUnlock()
	stats := sluice.SpoolStats{MaxBytes: s.max}
	for _, b := range s.boxes {
		stats.Waiting += b.waiting()
		stats.Bytes += b.bytes.Load()
		if at := b.oldest(ctx); !at.IsZero() && (stats.Oldest == nil || at.Before(*stats.Oldest)) {
			stats.Oldest = &at
		}
	}
	return stats
}

// Count returns how many calls wait.
func (s *Spool) Count() (n int64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, b := range s.boxes {
		n += b.waiting()
	}
	return n
}

// renew drops the boxes that are handed over, and begins a new one in place of the
// last.
func (s *Spool) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stretch.Of(renewTimeout))
	defer cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.boxes[len(s.boxes)-1]
	if last.writer.Durable() > 0 && last.waiting() == 0 {
		s.next = cmp.Or(s.next, rand.Text())
		b, err := newBox(ctx, s.running, s.host, s.next)
		if err != nil {
			return err
		}
		s.boxes, s.next = append(s.boxes, b), ""
	}
	for len(s.boxes) > 1 && s.boxes[0].waiting() == 0 {
		b := s.boxes[0]
		s.boxes = s.boxes[1:]
		b.stop()
		if err := s.host.JS.DeleteStream(ctx, stream.SpoolPrefix+b.name); err != nil {
			s.host.Log.Warn("What was handed over could not be removed from the spool.", "error", err)
		}
	}
	return nil
}

// renewTimeout bounds how long calls may wait for a new box.
const renewTimeout = 2 * time.Second
