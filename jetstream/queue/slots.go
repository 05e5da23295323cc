package queue

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// slots says when a pipeline may begin its next run: there must be a free slot, and the
// pipeline's rate must allow it. Live events go first. Events that waited (retries and
// replays) get at most half of the slots, so that live events get theirs even if those
// runs hang. While live events wait for a slot, one slot in waitedShare goes to events
// that waited, so that they don't wait for ever.
type slots struct {
	pace *rate.Limiter // nil: any rate

	mu         sync.Mutex
	free       int
	waitedFree int // of the free ones, those that events that waited may take
	live       []*caller
	waited     []*caller
	passed     int         // slots given to live events while one that waited could have had them
	timer      *time.Timer // runs when the pace allows the next run
}

const waitedShare = 8

// A caller waits for a slot.
type caller struct {
	granted chan struct{}
	waited  bool
}

func newSlots(concurrency int, perSecond float64) *slots {
	s := &slots{free: concurrency, waitedFree: max(1, concurrency/2)}
	if perSecond > 0 {
		s.pace = rate.NewLimiter(rate.Limit(perSecond), max(1, int(perSecond)))
	}
	return s
}

// take waits for a slot. It ends with give.
func (s *slots) take(ctx context.Context, waited bool) error {
	if s.tryTake(waited) {
		return nil
	}
	c := &caller{make(chan struct{}), waited}
	s.mu.Lock()
	if waited {
		s.waited = append(s.waited, c)
	} else {
		s.live = append(s.live, c)
	}
	s.grant()
	s.mu.Unlock()
	select {
	case <-c.granted:
		return nil
	case <-ctx.Done():
		return s.leave(c, ctx.Err())
	}
}

// tryTake takes a slot if one is free that nobody waits for.
func (s *slots) tryTake(waited bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	idle := s.free > 0 && len(s.live) == 0 && len(s.waited) == 0 && (!waited || s.waitedFree > 0)
	if !idle || !s.paced() {
		return false
	}
	s.occupy(waited)
	return true
}

// give gives a slot back.
func (s *slots) give(waited bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release(waited)
}

func (s *slots) release(waited bool) {
	s.free++
	if waited {
		s.waitedFree++
	}
	s.grant()
}

func (s *slots) occupy(waited bool) {
	s.free--
	if waited {
		s.waitedFree--
	}
}

// paced reports whether the pace allows another run now. If not, slots are granted as
// soon as it does.
func (s *slots) paced() bool {
	if s.pace == nil {
		return true
	}
	reserved := s.pace.Reserve()
	wait := reserved.Delay()
	if wait == 0 {
		return true
	}
	reserved.Cancel()
	if s.timer != nil {
		s.timer.Stop()
	}
	s.timer = time.AfterFunc(wait, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.grant()
	})
	return false
}

// grant gives free slots to the callers that wait for one.
func (s *slots) grant() {
	for s.free > 0 {
		waitedMay := len(s.waited) > 0 && s.waitedFree > 0
		if len(s.live) == 0 && !waitedMay || !s.paced() {
			return
		}
		next := &s.live
		if waitedMay && (len(s.live) == 0 || s.passed >= waitedShare-1) {
			next, s.passed = &s.waited, 0
		} else if waitedMay {
			s.passed++
		}
		c := (*next)[0]
		*next = (*next)[1:]
		s.occupy(c.waited)
		close(c.granted)
	}
}

// leave gives up waiting.
func (s *slots) leave(c *caller, cause error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-c.granted:
		s.release(c.waited)
	default:
		isIt := func(other *caller) bool { return other == c }
		s.live, s.waited = slices.DeleteFunc(s.live, isIt), slices.DeleteFunc(s.waited, isIt)
	}
	return cause
}
