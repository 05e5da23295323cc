package queue

import (
	"context"
	"time"

	"sluice"
)

// lookEvery bounds each wait for a stored time. A timer ignores changes of the clock: a
// wait that begins while the clock is a day behind would last a day, even if the clock
// is soon set right. Checking again costs nothing, since a pipeline has one timer for all
// of its events.
const lookEvery = 5 * time.Second

// A clock remembers how the clock on the wall goes, by one that nobody sets.
type clock struct {
	began time.Time     // of the process
	ahead time.Duration // how much more has passed since then by the clock on the wall
}

// clockStep is how much a clock may be set back without being noticed. The clocks of nodes
// differ as well.
const clockStep = time.Minute

// setBack returns how far the clock on the wall was set back since the last call, as a negative
// duration; 0 if it was not.
func (c *clock) setBack(now time.Time) time.Duration {
	before := c.ahead
	c.ahead = now.Round(0).Sub(c.began.Round(0)) - time.Since(c.began)
	if back := c.ahead - before; back <= -clockStep {
		return back
	}
	return 0
}

// keepTime moves all due times back with the clock on the wall, if that was set back since
// keepTime was last called. Later states are noted by the clock as it is then. The caller
// holds the lock.
func (w *Waiting) keepTime() {
	back := moment(w.clock.setBack(w.now()))
	if back == 0 {
		return
	}
	for _, l := range w.lines {
		for e := range l.all() {
			if e.Due, e.at = e.Due+back, e.at+back; e.Group != 0 {
				e.Came, e.noted = e.Came.Add(time.Duration(back)), e.noted+back
			}
		}
	}
}

// onClock returns a state with its times by the clock as it is now. If it was noted or stored in
// what is now the future, the clock was set back since, and the state counts as noted now.
func (w *Waiting) onClock(s state, stored time.Time) state {
	if s.Told.After(stored) { // the clock was set back in between
		stored = s.Told
	}
	if ahead := stored.Sub(w.now().Round(0)); ahead > clockStep {
		if s.Due = s.Due.Add(-ahead); s.Group != 0 {
			s.Came = s.Came.Add(-ahead)
		}
	}
	return s
}

// left returns how long it is until a time by the wall clock: the clock that people see,
// and the only one that other nodes and the next process share.
func (w *Waiting) left(due time.Time) time.Duration { return due.Round(0).Sub(w.now()) }

// hold returns when an event that keeps its place is due, or with the error of ctx. If it is
// tried before, it returns for which target. Gone says that the event was withdrawn before it was here.
func (w *Waiting) hold(
	ctx context.Context, binding, key string, s state, gone func() bool,
) (tries sluice.Target, err error) {
	wake := make(chan sluice.Target, 1)
	w.mu.Lock()
	w.keepTime()
	l := w.line(binding)
	e := l.entry(key)
	s = w.onClock(s, time.Time{})
	s.sequence, s.Order = 0, e.Order
	l.become(e, s)
	if e.extra == plain {
		e.extra = new(extra)
	}
	e.wake = wake
	w.mu.Unlock()
	if s.Answer { // it may have been released a moment ago
		if now, err := w.find(ctx, binding, key); err == nil && now != nil && now.Due.Before(s.Due) {
			w.hurry(hurryOrder{Bindings: []string{binding}, Key: key, Answer: true}, false)
		}
	}
	if gone() {
		err = errElsewhere
	} else {
		select {
		case tries = <-wake:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case l.find(key) != e: // it was erased
		err = errElsewhere
	case e.Order == 0:
		l.remove(e)
	default:
		l.become(e, state{Order: e.Order, Attempts: s.Attempts})
		l.stepOut(e)
	}
	return tries, err
}
