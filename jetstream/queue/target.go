package queue

import (
	"slices"
	"time"

	"golang.org/x/time/rate"

	"sluice"
)

const (
	followRate  = 100 // events a second that follow when their target is back
	followEvery = 10 * time.Millisecond
)

// A recovery is about a target that events of a line wait for. When a run reaches the target,
// the oldest of them is tried. If that goes well, the others follow.
type recovery struct {
	target    sluice.Target
	waiting   int       // events that wait for the target
	trying    string    // the key of the one that is tried first; "": none is
	following []*entry  // those that become due one after the other
	failed    time.Time // when a try last failed: earlier ones are called off
	pause     time.Time // there is no try before
}

// heard notes what a delivery found out about targets. A try that came to nothing lets
// another one come.
func (w *Waiting) heard(c *consumption, d *delivery, o sluice.Outcome) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.line(c.binding)
	for _, target := range o.Reached {
		if r := l.targets[target]; r != nil {
			w.reached(l, r, d, c.slots.pace)
		}
	}
	r := l.targets[d.tries]
	if r == nil {
		return
	}
	if r.trying == d.key {
		r.trying = ""
	}
	if o.Target == d.tries {
		r.following, r.failed, r.pause = nil, w.now(), w.now().Add(o.Pause)
	}
}

// reached lets an event that waits for a target be tried, or those behind it follow. The
// caller holds the lock.
func (w *Waiting) reached(l *line, r *recovery, by *delivery, pace *rate.Limiter) {
	first := r.trying != "" && r.trying == by.key
	if e := l.find(r.trying); !first && (e == nil || !e.busy() && e.tried == 0 || e.claimed) {
		r.trying = "" // it is gone, was made due, or is another node's
	}
	if len(r.following) > 0 || !first && (r.trying != "" || w.now().Before(r.pause)) {
		return
	}
	var waiting []*entry
	l.due.Ascend(&entry{at: w.moment() + 1, extra: plain}, func(e *entry) bool {
		if e.Target == r.target && e.tried == 0 && !e.claimed {
			waiting = append(waiting, e)
		}
		return true
	})
	if len(waiting) == 0 {
		return
	}
	if !first {
		oldest := slices.MinFunc(waiting, cameBefore)
		r.trying = oldest.key()
		w.try(l, r, oldest)
		return
	}
	slices.SortFunc(waiting, cameBefore)
	r.following = waiting
	limit := rate.Limit(followRate)
	if pace != nil {
		limit = min(limit, pace.Limit())
	}
	w.followOn(l, r, rate.NewLimiter(limit, max(1, int(limit))))
}

// followOn lets the next events be tried, and comes back for the rest. The caller holds the
// lock.
func (w *Waiting) followOn(l *line, r *recovery, pace *rate.Limiter) {
	for len(r.following) > 0 && pace.Allow() {
		w.try(l, r, r.following[0])
		r.following = r.following[1:]
	}
	if len(r.following) > 0 {
		time.AfterFunc(followEvery, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.followOn(l, r, pace)
		})
	}
}

// try lets an event be tried before it is due, unless it has been taken or waits for something
// else by now. Only this node knows. The caller holds the lock.
func (w *Waiting) try(l *line, r *recovery, e *entry) {
	if now := w.moment(); e.Target == r.target && e.queued && !e.claimed && l.advance(e, now) {
		e.tried = now
	}
}

// calledOff reports whether an event was to be tried, and a try for its target has failed
// since. It then waits as before.
func (l *line) calledOff(e *entry) bool {
	r := l.targets[e.Target]
	return e.tried != 0 && r != nil && e.tried <= momentOf(r.failed)
}

// waitFor notes which target an event waits for, in place of another one.
func (l *line) waitFor(target, before sluice.Target) {
	if target == before {
		return // what is known of it counts on
	}
	if r := l.targets[before]; r != nil {
		if r.waiting--; r.waiting == 0 {
			delete(l.targets, before)
		}
	}
	if target == 0 {
		return
	}
	if l.targets[target] == nil {
		l.targets[target] = &recovery{target: target}
	}
	l.targets[target].waiting++
}
