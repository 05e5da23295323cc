// Package live sends calls and runs to their readers as they happen, as Server-Sent Events: to programs by
// the API, and to pages of the portal.
package live

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"sluice"
	"sluice/limit"
)

// Permission is what readers need.
const Permission = "trace.get"

// heartbeat keeps proxies from taking a connection for dead.
const heartbeat = 15 * time.Second

// Streams are the open streams of programs, or of pages.
type Streams struct {
	Tail     sluice.Tail
	Stopping <-chan struct{} // closed when the server stops

	// Identify returns the user behind a request as they are now.
	Identify func(*http.Request) (sluice.User, error)

	// Pages says that the readers are pages. They are identified before each entry, not only with the
	// heartbeats, and hear nothing of an end: they connect again.
	Pages bool

	readers *limit.Places // by username
}

// New returns streams. Their number is bounded, for each user and in all.
func New(s Streams) *Streams {
	s.readers = limit.NewPlaces(sluice.MaxTailsPerUser, sluice.MaxTails)
	return &s
}

// Serve sends what a query asks for to a user who may read it.
func (s *Streams) Serve(w http.ResponseWriter, r *http.Request, user sluice.User, q sluice.TailQuery) error {
	if !user.MayCall(Permission, true) {
		return sluice.NotPermitted(Permission)
	}
	leave, err := s.readers.Enter(user.Name)
	switch {
	case errors.Is(err, limit.ErrNoShare):
		const message = "You have as many live tails open as one user may. Try again when some have ended."
		return sluice.CodeTooManyTails.Errorf(message).After(time.Second)
	case err != nil:
		return sluice.Passing(sluice.CodeTooManyTails, "As many live tails are open as the server allows.")
	}
	defer leave()
	q.Cover, q.Known = user.CoverOf(Permission, true), user.Cover(sluice.MaySeePayload)
	ctx, cancel := context.WithCancel(r.Context())
	entries, err := s.Tail.Follow(ctx, q)
	if err != nil {
		cancel()
		return err
	}
	to := newReader(w)
	var following sync.WaitGroup
	defer following.Wait()
	defer cancel()
	following.Go(func() {
		defer close(to.queue)
		for entry, err := range entries {
			if err != nil {
				to.failure = err
				return
			}
			to.offer(ctx, entry)
		}
	})
	_ = s.send(r, to, q) // the reader has gone
	return nil
}

// send writes until the reader goes or may not go on, or the server stops.
func (s *Streams) send(r *http.Request, to *reader, q sluice.TailQuery) error {
	if err := to.begin(); err != nil {
		return err
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		var err error
		select {
		case <-r.Context().Done():
			return nil
		case <-s.Stopping:
			return nil
		case <-beat.C:
			if err := s.mayGoOn(r, q); err != nil {
				return s.end(to, err)
			}
			err = to.write(": still here\n\n")
		case entry, open := <-to.queue:
			if !open {
				return s.end(to, to.failure)
			}
			if s.Pages && s.mayGoOn(r, q) != nil {
				return nil
			}
			err = to.add(entry)
		}
		if err != nil {
			return err
		}
	}
}

// end says why there is no more.
func (s *Streams) end(to *reader, why error) error {
	if why == nil || s.Pages {
		return nil
	}
	return to.end(why)
}

// mayGoOn refuses a reader who has lost the right to read the stream.
func (s *Streams) mayGoOn(r *http.Request, q sluice.TailQuery) error {
	user, err := s.Identify(r)
	if err != nil {
		return err
	}
	if !user.MayCall(Permission, true) || !q.Cover.Within(user.CoverOf(Permission, true)) ||
		!q.Known.Within(user.Cover(sluice.MaySeePayload)) {
		return sluice.NotPermitted(Permission)
	}
	return nil
}
