package queue

import (
	"context"
	"runtime/debug"
	"time"

	"sluice/wait"
)

func (w *Waiting) line(binding string) *line {
	l := w.lines[binding]
	if l == nil {
		l = newLine()
		w.lines[binding] = l
	}
	return l
}

// moment is the time by the clock on the wall. The caller holds the lock.
func (w *Waiting) moment() moment {
	w.keepTime()
	return momentOf(w.now())
}

// expect says that a state is about to be stored.
func (w *Waiting) expect(binding string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.line(binding).used = true
}

// may reports whether an event may wait for a binding, here or in its place. The index
// knows all that this node has stored.
func (w *Waiting) may(binding string) bool {
	if !w.host.SoleWriter {
		return true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.before > 0 || w.line(binding).used
}

// ready returns when the index has all states from before the start, or with the error of ctx.
func (w *Waiting) ready(ctx context.Context) error {
	for {
		w.mu.Lock()
		behind := w.behind
		w.mu.Unlock()
		if behind == 0 {
			return nil
		}
		if err := wait.For(ctx, followEvery); err != nil {
			return err
		}
	}
}

// tidyMemory gives memory back after the start: reading many states leaves garbage several times their size.
func (w *Waiting) tidyMemory(ctx context.Context) {
	const many = 10_000
	if w.ready(ctx) != nil {
		return
	}
	w.mu.Lock()
	count := w.count
	w.mu.Unlock()
	if count > many {
		debug.FreeOSMemory()
	}
}

// caughtUp notes that the index has the states up to a sequence, and how many follow.
func (w *Waiting) caughtUp(sequence, behind uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.behind, w.seen = min(w.behind, behind), max(w.seen, sequence)
}

// note adds a stored state to the index, and returns the sequence of another one that only the index
// knew, and that no longer counts; 0: there is none.
func (w *Waiting) note(binding, key string, s state) (outdated uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now, l := w.moment(), w.line(binding)
	l.used = true
	if s.Held || s.Node == w.node {
		return 0
	}
	e := l.entry(key)
	switch {
	case s.sequence < e.sequence:
		return (&entry{sequence: s.sequence, indexed: s.Key != ""}).outdated()
	case s.sequence == e.sequence:
		return 0
	case !e.here():
		l.count++
		w.count++
	case e.Group != 0 && s.Group == 0:
		l.taken(e, now+moment(lease))
	}
	outdated = e.outdated()
	if l.become(e, s); e.Group != 0 {
		e.noted = now
	}
	return outdated
}

// stateAt returns the sequence of an event's state that only the index knows, 0 if there is none.
func (w *Waiting) stateAt(binding, key string) uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e := w.line(binding).find(key); e != nil {
		return e.outdated()
	}
	return 0
}

// await returns when an event is due, or with the error of ctx.
func (w *Waiting) await(ctx context.Context, binding string) error {
	for {
		w.mu.Lock()
		now, l := w.moment(), w.line(binding)
		changed, left := l.changed, lookEvery
		if first, ok := l.due.Min(); ok {
			left = min(time.Duration(first.at-now), lookEvery)
		}
		w.mu.Unlock()
		if left <= 0 {
			return ctx.Err()
		}
		select {
		case <-time.After(left):
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// pick takes the next event that is due out of its line, nil if none is. Later postpone
// puts it back, or forget removes it.
func (w *Waiting) pick(binding string) *entry {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.line(binding).next(w.moment())
}

// postpone puts a picked event back in line, due after a while.
func (w *Waiting) postpone(binding, key string, wait time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now, l := w.moment(), w.line(binding)
	if e := l.find(key); e != nil && !e.queued {
		l.enter(e, now+moment(wait))
	}
}

// forget takes an event out of the index.
func (w *Waiting) forget(binding, key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.line(binding)
	e := l.find(key)
	if e == nil {
		return
	}
	if e.here() {
		l.count--
		w.count--
	}
	l.remove(e)
}

// leave takes an event out of the index that is done in its place, if it is there.
func (w *Waiting) leave(binding, key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.line(binding)
	if e := l.find(key); e != nil && !e.here() {
		l.remove(e)
	}
}

// known returns the bindings that have a line.
func (w *Waiting) known() map[string]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	bindings := make(map[string]bool)
	for binding := range w.lines {
		bindings[binding] = true
	}
	return bindings
}

// counts returns how many events wait for a binding in the waiting room, how many anywhere for
// another attempt, and when the first attempt on any of them began.
func (w *Waiting) counts(binding string) (count, retrying int, oldest time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.line(binding)
	first := moment(0)
	for e := range l.all() {
		if e.retries() {
			retrying++
		}
		if first == 0 || e.First != 0 && e.First < first {
			first = e.First
		}
	}
	return l.count, retrying, first.time()
}

// entrySize is more than the index takes for an event.
const entrySize = 200

// jobSize is what the index takes for an item of work, beside the entry of its event.
const jobSize = 800

// full reports whether the line of a binding is as long as it may be: there is room for as many
// events of others. Further ones keep their place with the consumer, which then delivers no more.
// Those that come again after a restart, before others, are let in: none of these would have its turn.
func (w *Waiting) full(binding string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.line(binding)
	known := int64(w.count+l.count)*entrySize + int64(w.Work.count())*jobSize
	return w.memory > 0 && known >= w.memory && l.shut == 0
}

// Waits reports whether an event waits for a pipeline.
func (w *Waiting) Waits(sequence uint64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range w.lines {
		if l.events[sequence] != nil {
			return true
		}
	}
	return false
}
