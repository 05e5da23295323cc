package queue

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"sluice"
)

// Retry implements sluice.WaitingEvents: it makes the events of a query that wait for another
// attempt due now.
func (q *Queue) Retry(query sluice.RetryQuery) (retried int) {
	key := ""
	if query.TraceID != "" {
		key = strconv.FormatUint(q.ids.Nonce(query.TraceID), 36) + "-"
	}
	for binding, p := range q.listeners.Bound() {
		if query.Pipeline != "" && query.Pipeline != p.Name || !query.Cover.Name(p.Name) {
			continue
		}
		retried += q.waiting.hurry(binding, query.DryRun, func(e *entry) bool {
			return e.Attempts > 0 && strings.HasPrefix(e.key, key) && (query.Code == "" || e.Code == query.Code) && !e.First.Before(query.Since)
		})
	}
	return retried
}

// hurry makes events due that wait for a binding and fit, or only counts them.
func (w *Waiting) hurry(binding string, count bool, fits func(*entry) bool) (hurried int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.line(binding)
	for _, e := range l.events {
		if e.index < 0 || !fits(e) { // one that was taken is in its attempt
			continue
		}
		hurried++
		if !count {
			w.advance(l, e)
		}
	}
	for h := range l.held {
		if fits(&h.entry) {
			hurried++
			if !count {
				h.wake()
			}
		}
	}
	return hurried
}

// advance makes an event due now. Only this node knows: after a crash the event is due
// when it was before. The caller holds the lock.
func (w *Waiting) advance(l *line, e *entry) {
	if now := w.now().UTC().Round(0); now.Before(e.Due) {
		e.Due = now
		l.enter(e)
	}
}

// A held event keeps its place with the consumer while it waits.
type held struct {
	entry
	wake func()
}

// hold returns when an event that keeps its place is due, or with the error of ctx.
func (w *Waiting) hold(ctx context.Context, binding, key string, s state) error {
	woken, wake := context.WithCancel(ctx)
	defer wake()
	h := &held{entry{key: key, state: s}, wake}
	w.mu.Lock()
	w.line(binding).held[h] = true
	w.mu.Unlock()
	err := w.until(woken, w.onClock(s, time.Time{}))
	w.mu.Lock()
	delete(w.line(binding).held, h)
	w.mu.Unlock()
	if ctx.Err() == nil {
		return nil
	}
	return err
}

const (
	followRate  = 100 // events a second that follow when their target is back
	followEvery = 10 * time.Millisecond
)

// targetBack lets the events follow that wait for the target of a pipeline, which has
// just taken one: in the order they came, and not all at once.
func (w *Waiting) targetBack(binding string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.lines[binding]
	if l == nil || l.following != nil || len(l.due) == 0 && len(l.held) == 0 {
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
	if l := w.lines[binding]; l != nil {
		l.following = nil
	}
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
