package limit

import (
	"context"
	"math"
	"runtime"
	"time"
)

// Computing bounds how many compute at the same time of those that compute for long. Go's scheduler
// lets everything wait for everything that computes, so a few hundred would make each call wait for
// seconds. One processor is left to those that compute little, if there is more than one.
type Computing struct {
	places        chan struct{}
	groups, names *Lines
}

// NewComputing returns the places of this process.
func NewComputing() *Computing {
	places := max(1, runtime.GOMAXPROCS(0)-1)
	return &Computing{make(chan struct{}, places), NewLines(1), NewLines(places)}
}

// slice is how many steps are computed without a place, and then before others have their turn: less
// than half a millisecond.
const slice = 20_000

// stepTime is about how long a step takes.
const stepTime = 15 * time.Nanosecond

// Work is what one run or check computes. The first slice of its steps is free; for each further one it
// needs a place, for which it waits its turn. It belongs to one goroutine. A nil Work has no bound.
type Work struct {
	ctx         context.Context //nolint:containedctx // of what computes
	of          *Computing
	group, name string
	left        int    // steps of its slice
	placed      bool   // it has a place
	leave       func() // leaves the head of the line of its name; nil: it is not there
}

// Work returns the work of somebody within a group, such as a pipeline of a user. Groups take turns of
// a slice each. Those of a name have them one after the other, until they rest: what is begun holds
// memory. If ctx ends, the work does.
func (c *Computing) Work(ctx context.Context, group, name string) *Work {
	if c == nil {
		return nil
	}
	return &Work{ctx: ctx, of: c, group: group, name: group + "\n" + name, left: slice}
}

// Left returns how many steps can be computed before Spend must know of them.
func (w *Work) Left() int {
	if w == nil {
		return math.MaxInt
	}
	return w.left
}

// Spend pays for steps, and waits for a place if they are more than are left: for as many turns as they
// take.
func (w *Work) Spend(steps int) error {
	if w == nil {
		return nil
	}
	for w.left -= steps; w.left < 0; w.left += slice {
		w.Pause()
		if err := w.enter(); err != nil {
			w.Rest()
			return err
		}
	}
	return nil
}

// enter waits for a place.
func (w *Work) enter() (err error) {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	defer runtime.Gosched() // whoever wakes up is ahead of all others
	if w.leave == nil {
		if w.leave, err = w.of.names.Enter(w.ctx, w.name); err != nil {
			return err
		}
	}
	select {
	case w.of.places <- struct{}{}:
		w.placed = true
		return nil
	default:
	}
	leave, err := w.of.groups.Enter(w.ctx, w.group)
	if err != nil {
		return err
	}
	defer leave()
	select {
	case w.of.places <- struct{}{}:
		w.placed = true
		return nil
	case <-w.ctx.Done():
		return w.ctx.Err()
	}
}

// Pause gives the place back, before something is waited for that has a bound of its own. Others of its
// name wait with it.
func (w *Work) Pause() {
	if w != nil && w.placed {
		w.placed, w.left = false, min(w.left, 0)
		<-w.of.places
	}
}

// Until lets the work wait until ctx ends, as long as a part of it goes on: until end is called.
func (w *Work) Until(ctx context.Context) (end func()) {
	if w == nil {
		return func() {}
	}
	outer := w.ctx
	w.ctx = ctx
	return func() { w.ctx = outer }
}

// Rest gives the place back, before anything else is waited for. What follows needs one again.
func (w *Work) Rest() {
	if w == nil || w.leave == nil {
		return
	}
	w.Pause()
	w.leave()
	w.leave = nil
}

// Begin begins a computation that can't count its steps, until End. One that may take long waits for a
// place in any case.
func (w *Work) Begin(long bool) (began time.Time, err error) {
	if w == nil {
		return began, nil
	}
	if long {
		w.left = min(w.left, 0)
		err = w.Spend(1)
	}
	return time.Now(), err
}

// End ends what began then: the time counts as steps, for which others have their turns first.
func (w *Work) End(began time.Time) {
	if w != nil {
		_ = w.Spend(int(time.Since(began) / stepTime)) // it fails only if there is nothing to go on with
		w.Rest()
	}
}
