package queue

import (
	"cmp"
	"slices"
	"time"

	"golang.org/x/time/rate"
)

const (
	followRate  = 100 // events a second that follow when their target is back
	followEvery = 10 * time.Millisecond
)

// targetBack lets the events follow that wait for the target of a pipeline, which has
// just taken one: in the order they came, and not all at once.
func (w *Waiting) targetBack(binding string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.line(binding)
	if l.following != nil || len(l.due) == 0 && len(l.held) == 0 {
		return
	}
	var follow []*entry
	for _, e := range l.due {
		if e.Recovers && e.Due.After(w.now()) {
			follow = append(follow, e)
		}
	}
	for h := range l.held {
		if h.Recovers {
			h.wake()
		}
	}
	if len(follow) == 0 {
		return
	}
	slices.SortFunc(follow, func(a, b *entry) int { return cmp.Compare(sequenceOf(a.key), sequenceOf(b.key)) })
	l.following = follow
	w.followOn(l, rate.NewLimiter(followRate, followRate))
}

// targetAway stops the events that follow: the next one that succeeds lets them go on.
func (w *Waiting) targetAway(binding string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.line(binding).following = nil
}

// followOn makes the next events due that follow, and comes back for the rest. The caller
// holds the lock.
func (w *Waiting) followOn(l *line, pace *rate.Limiter) {
	for len(l.following) > 0 && pace.Allow() {
		e := l.following[0]
		l.following = l.following[1:]
		if e.index >= 0 && l.events[e.key] == e { // it may have been taken or forgotten
			w.advance(l, e)
		}
	}
	if len(l.following) == 0 {
		l.following = nil
		return
	}
	time.AfterFunc(followEvery, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.followOn(l, pace)
	})
}

// advance makes an event due now. Only this node knows: after a crash the event is due
// when it was before. The caller holds the lock.
func (w *Waiting) advance(l *line, e *entry) {
	if now := w.now().UTC().Round(0); now.Before(e.Due) {
		e.Due = now
		l.enter(e)
	}
}
