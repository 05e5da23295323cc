package queue

import (
	"context"
	"time"
)

// lookEvery bounds each wait for a stored time. A timer ignores changes of the clock: a
// wait that begins while the clock is a day behind would last a day, even if the clock
// is soon set right. Checking again costs nothing, since a pipeline has one timer for all
// of its events.
const lookEvery = 5 * time.Second

// lookSoon is when to look again for what may change at any moment.
const lookSoon = 100 * time.Millisecond

// A clock remembers how the clock on the wall goes, by one that nobody sets.
type clock struct {
	began time.Time     // of the process
	ahead time.Duration // how much more has passed since then by the clock on the wall
}

// clockStep is how much a clock may be set back without being noticed. The clocks of nodes
// differ as well.
const clockStep = time.Minute

// keepTime moves all due times back with the clock on the wall, if that was set back since
// keepTime was last called. Later states are noted by the clock as it is then. The caller
// holds the lock.
func (w *Waiting) keepTime() {
	before := w.clock.ahead
	w.clock.ahead = w.now().Round(0).Sub(w.clock.began.Round(0)) - time.Since(w.clock.began)
	back := w.clock.ahead - before
	if back > -clockStep {
		return
	}
	for _, l := range w.lines {
		for _, e := range l.due {
			e.Due, e.at = e.Due.Add(back), e.at.Add(back)
		}
	}
}

// onClock returns when a state is due. If it was noted or stored in what is now the future,
// the clock was set back since, and the state counts as noted now.
func (w *Waiting) onClock(s state, stored time.Time) time.Time {
	if s.Told.After(stored) { // the clock was set back in between
		stored = s.Told
	}
	if ahead := stored.Sub(w.now().Round(0)); ahead > clockStep {
		return s.Due.Add(-ahead)
	}
	return s.Due
}

// until returns when a time has come, or with the error of ctx. The time has come when
// the clock says so, or when the seconds have passed that were left at the start: if the
// clock is set back meanwhile, an event that others wait for does not wait longer.
func (w *Waiting) until(ctx context.Context, due time.Time) error {
	passed := time.NewTimer(due.Sub(w.now()))
	defer passed.Stop()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		select {
		case <-passed.C:
			return nil
		case <-look.C:
			if w.left(due) <= 0 {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// left returns how long it is until a time by the wall clock: the clock that people see,
// and the only one that other nodes and the next process share.
func (w *Waiting) left(due time.Time) time.Duration { return due.Round(0).Sub(w.now()) }

// hold returns when an event that keeps its place is due, or with the error of ctx. It
// returns true if the event is tried before.
func (w *Waiting) hold(ctx context.Context, binding, key string, s state) (tried bool, err error) {
	woken, wake := context.WithCancel(ctx)
	defer wake()
	h := &entry{key: key, event: sequenceOf(key), state: s, index: -1, wake: wake}
	w.mu.Lock()
	l := w.line(binding)
	l.held[h] = true
	l.waitFor(s.Target, 0)
	w.mu.Unlock()
	if s.Answer { // it may have been released a moment ago
		if now, err := w.find(ctx, binding, key); err == nil && now != nil && now.Due.Before(s.Due) {
			wake()
		}
	}
	err = w.until(woken, w.onClock(s, time.Time{}))
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(l.held, h)
	l.waitFor(0, s.Target)
	if ctx.Err() == nil {
		err = nil
	}
	return !h.tried.IsZero(), err
}
