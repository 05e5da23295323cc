package queue

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// turns says when a pipeline may begin its next run: there must be a free slot,
// and the pipeline's rate must allow it. Live events go first. What comes later,
// retries and replays, gets at most half of the slots, so that runs that hang
// keep no live event from its turn, and at least every eighth turn, so that
// live events don't keep it from its turn for ever.
type turns struct {
	pace *rate.Limiter // nil: any rate

	mu        sync.Mutex
	free      int // slots
	laterFree int // those of them that are left for what comes later
	live      []*turn
	later     []*turn
	passed    int         // turns of live events while something waited to come later
	timer     *time.Timer // runs when the pace allows the next turn
}

// laterShare is every how many turns one is for what comes later.
const laterShare = 8

// A turn is one that is waited for.
type turn struct {
	granted chan struct{}
	later   bool
}

func newTurns(concurrency int, perSecond float64) *turns {
	t := &turns{free: concurrency, laterFree: max(1, concurrency/2)}
	if perSecond > 0 {
		t.pace = rate.NewLimiter(rate.Limit(perSecond), max(1, int(perSecond)))
	}
	return t
}

// take waits for a turn. It ends with give.
func (t *turns) take(ctx context.Context, later bool) error {
	t.mu.Lock()
	if t.idle(later) && t.paced() {
		t.occupy(later)
		t.mu.Unlock()
		return nil
	}
	w := &turn{make(chan struct{}), later}
	if later {
		t.later = append(t.later, w)
	} else {
		t.live = append(t.live, w)
	}
	t.grant()
	t.mu.Unlock()
	select {
	case <-w.granted:
		return nil
	case <-ctx.Done():
		return t.leave(w, ctx.Err())
	}
}

// tryTake takes a turn for a live event if there is one at once.
func (t *turns) tryTake() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.idle(false) || !t.paced() {
		return false
	}
	t.occupy(false)
	return true
}

// give ends a turn.
func (t *turns) give(later bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.free++
	if later {
		t.laterFree++
	}
	t.grant()
}

// idle reports whether there is a slot, and nobody who waits for it.
func (t *turns) idle(later bool) bool {
	return t.free > 0 && len(t.live) == 0 && len(t.later) == 0 && (!later || t.laterFree > 0)
}

func (t *turns) occupy(later bool) {
	t.free--
	if later {
		t.laterFree--
	}
}

// paced reports whether the pace allows another turn now. Otherwise it sees to it
// that turns are granted when it does.
func (t *turns) paced() bool {
	if t.pace == nil {
		return true
	}
	reserved := t.pace.Reserve()
	wait := reserved.Delay()
	if wait == 0 {
		return true
	}
	reserved.Cancel()
	if t.timer != nil {
		t.timer.Stop()
	}
	t.timer = time.AfterFunc(wait, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.grant()
	})
	return false
}

// grant lets those who wait have their turns, as far as there are any.
func (t *turns) grant() {
	for t.free > 0 {
		laterMay := len(t.later) > 0 && t.laterFree > 0
		if len(t.live) == 0 && !laterMay || !t.paced() {
			return
		}
		next := &t.live
		if laterMay && (len(t.live) == 0 || t.passed >= laterShare-1) {
			next, t.passed = &t.later, 0
		} else if laterMay {
			t.passed++
		}
		w := (*next)[0]
		*next = (*next)[1:]
		t.occupy(w.later)
		close(w.granted)
	}
}

// leave returns up waiting.
func (t *turns) leave(w *turn, cause error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-w.granted:
		t.free++
		if w.later {
			t.laterFree++
		}
		t.grant()
	default:
		isIt := func(other *turn) bool { return other == w }
		t.live, t.later = slices.DeleteFunc(t.live, isIt), slices.DeleteFunc(t.later, isIt)
	}
	return cause
}
