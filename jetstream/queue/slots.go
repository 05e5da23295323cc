package queue

import (
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"

	"sluice"
	"sluice/value"
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

// A crew is a pool of goroutines. One that has done its work waits for more, since its
// stack has already grown to what the work needs.
type crew struct {
	start func(func()) // runs a goroutine
	done  <-chan struct{}
	work  chan func()
	idle  atomic.Int32
}

// do has an idle goroutine, or a new one, do some work.
func (c *crew) do(work func()) {
	select {
	case c.work <- work:
	default:
		c.start(func() { c.serve(work) })
	}
}

func (c *crew) serve(work func()) {
	for {
		work()
		if c.idle.Add(1) > sluice.MaxIdleRunners {
			c.idle.Add(-1)
			return
		}
		select {
		case work = <-c.work:
			c.idle.Add(-1)
		case <-c.done:
			return
		}
	}
}

const (
	// smallEvent is the size up to which the memory of an event is not counted.
	smallEvent = 64 << 10
	// prefetched is how many bytes of events a pipeline may take in before they have
	// a slot. The largest event must fit in.
	prefetched = 8 << 20
)

// outcomeCopies is how many times a large outcome is in memory while it is stored:
// as the pipeline made it, as it is written, and on its way through the engine.
const outcomeCopies = 5

// A memory bounds what all pipelines together take for events as they are stored, for
// decoded events, and for outcomes that are being stored.
type memory struct{ stored, decoded, outcomes bound }

// newMemory returns a memory of so many bytes; 0: no bound.
func newMemory(bytes int64) *memory {
	if bytes == 0 {
		bytes = math.MaxInt64
	}
	return &memory{stored: newBound(bytes / 2), decoded: newBound(bytes / 2), outcomes: newBound(bytes / 2)}
}

// settling waits for the memory to store an outcome, until release is called.
func (m *memory) settling(o sluice.Outcome) (release func()) {
	// Others give theirs back in any case: writers have time-outs.
	weight, _ := m.outcomes.acquire(context.Background(), outcomeCopies*len(o.Value))
	return func() { m.outcomes.release(weight) }
}

type bound struct {
	most int64
	free *semaphore.Weighted
}

func newBound(most int64) bound { return bound{most, semaphore.NewWeighted(most)} }

// acquire waits for so many bytes, and returns how many to release. An event that is
// larger than the bound is allowed alone.
func (b bound) acquire(ctx context.Context, bytes int) (weight int64, err error) {
	if bytes <= smallEvent {
		return 0, nil
	}
	weight = min(int64(bytes), b.most)
	if err := b.free.Acquire(ctx, weight); err != nil {
		return 0, err
	}
	return weight, nil
}

func (b bound) release(weight int64) { b.free.Release(weight) }

// footprint returns what an event takes in memory when it is decoded.
func footprint(data []byte) int {
	if len(data) <= smallEvent/2 {
		return 0
	}
	return value.Footprint(data)
}
