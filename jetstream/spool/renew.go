package spool

import (
	"cmp"
	"context"
	"crypto/rand"
	"time"

	"sluice/jetstream/stream"
	"sluice/stretch"
)

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
