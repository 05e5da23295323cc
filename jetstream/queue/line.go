package queue

import (
	"cmp"
	"container/heap"
	"context"
	"slices"
	"time"

	"sluice"
	"sluice/wait"
)

// A line is the events that wait for one pipeline.
type line struct {
	events    map[string]*entry // by key
	sequences map[uint64]int    // of those events, in the stream of events
	due       dueHeap           // the events that were not taken
	changed   chan struct{}     // closed and replaced when an event joins the line
	used      bool              // an event has waited here since the start
	held      map[*entry]bool   // that keep their place
	targets   map[sluice.Target]*recovery
	turns     turns
	groups    map[uint64][]*entry // that are one, by state.Group, as they came
}

// An entry is an event in a line.
type entry struct {
	key   string
	event uint64 // its sequence
	state
	at    time.Time // when the event is taken: when it is due, or when this node looks again
	tried time.Time // when it was let go before it is due; zero: it was not
	index int       // in the heap; -1: the event was taken
	wake  func()    // has one that keeps its place go on

	parked     bool     // it is not its turn, or another one of its group stands in line
	supersedes []string // the keys of the events that it runs in place of
}

// tries returns the target that the event is let go for before it is due, 0 if it is due.
func (e *entry) tries() sluice.Target {
	if e.tried.IsZero() {
		return 0
	}
	return e.Target
}

func (w *Waiting) line(binding string) *line {
	l := w.lines[binding]
	if l == nil {
		l = &line{
			events: make(map[string]*entry), sequences: make(map[uint64]int), held: make(map[*entry]bool),
			changed: make(chan struct{}), targets: make(map[sluice.Target]*recovery), turns: newTurns(),
			groups: make(map[uint64][]*entry),
		}
		w.lines[binding] = l
	}
	return l
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
	return w.earlier || w.behind > 0 || w.line(binding).used
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

// caughtUp notes that the index has the states up to a sequence, and how many follow.
func (w *Waiting) caughtUp(sequence, behind uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.behind, w.seen = min(w.behind, behind), max(w.seen, sequence)
}

// note adds a stored state to the index.
func (w *Waiting) note(binding, key string, s state) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.keepTime()
	l := w.line(binding)
	l.used = true
	e := l.events[key]
	switch {
	case s.Held, s.Node == w.node, e != nil && s.sequence < e.sequence:
		return
	case e == nil:
		e = &entry{key: key, event: sequenceOf(key), index: -1}
		l.events[key] = e
		l.sequences[e.event]++
	}
	if e.Group != 0 && s.Group == 0 {
		l.taken(e, w.now().Add(lease).Round(0))
	}
	l.waitFor(s.Target, e.Target)
	e.state, e.at, e.tried = s, s.Due, time.Time{}
	if s.Order != 0 {
		l.turns.join(s.Order, e.event, e)
	}
	switch {
	case s.Group != 0:
		l.gather(e)
	case l.turns.has(s.Order, e.event):
		l.enter(e)
	default:
		e.parked = true
	}
}

// enter lets an event wait in line until it is due.
func (l *line) enter(e *entry) {
	e.parked = false
	if e.index >= 0 {
		heap.Fix(&l.due, e.index)
	} else {
		heap.Push(&l.due, e)
	}
	close(l.changed)
	l.changed = make(chan struct{})
}

// stepOut takes an event out of the line, if it stands in it.
func (l *line) stepOut(e *entry) {
	if e.index >= 0 {
		heap.Remove(&l.due, e.index)
	}
}

// await returns when an event is due, or with the error of ctx.
func (w *Waiting) await(ctx context.Context, binding string) error {
	for {
		w.mu.Lock()
		w.keepTime()
		l := w.line(binding)
		changed, wait := l.changed, time.Duration(-1)
		if len(l.due) > 0 {
			wait = min(max(0, w.left(l.due[0].at)), lookEvery)
		}
		w.mu.Unlock()
		if wait == 0 {
			return ctx.Err()
		}
		var timer <-chan time.Time
		if wait > 0 {
			timer = time.After(wait)
		}
		select {
		case <-timer:
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
	w.keepTime()
	l := w.line(binding)
	for len(l.due) > 0 && w.left(l.due[0].at) <= 0 {
		e := l.due[0]
		if l.calledOff(e) {
			e.at, e.tried = e.Due, time.Time{}
			heap.Fix(&l.due, 0)
			continue
		}
		if e.Group != 0 && (w.behind > 0 || l.turns.shut > 0) { // another one of the group may be known soon
			e.at = w.now().Add(lookSoon).Round(0)
			heap.Fix(&l.due, 0)
			continue
		}
		if e.Group != 0 {
			e = l.close(e)
		}
		picked := *e
		l.stepOut(e)
		e.tried = time.Time{}
		return &picked
	}
	return nil
}

// postpone puts a picked event back in line, due after a while.
func (w *Waiting) postpone(binding, key string, wait time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.keepTime()
	l := w.line(binding)
	if e := l.events[key]; e != nil && e.index < 0 {
		e.at = w.now().Add(wait).Round(0) // the heap has one order: that of the clock on the wall
		l.enter(e)
	}
}

// forget takes an event out of the index.
func (w *Waiting) forget(binding, key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.line(binding)
	l.leave(sequenceOf(key))
	e := l.events[key]
	if e == nil {
		return
	}
	if l.stepOut(e); e.Group != 0 {
		l.arrange(e.Group, slices.DeleteFunc(l.groups[e.Group], func(other *entry) bool { return other == e }))
	}
	delete(l.events, key)
	l.waitFor(0, e.Target)
	if l.sequences[e.event]--; l.sequences[e.event] == 0 {
		delete(l.sequences, e.event)
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

// count returns how many events wait for a binding, how many of them for another
// attempt, and when the first attempt on any of them began.
func (w *Waiting) count(binding string) (count, retrying int, oldest time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.line(binding)
	for _, e := range l.events {
		if e.retries() {
			retrying++
		}
		if oldest.IsZero() || !e.First.IsZero() && e.First.Before(oldest) {
			oldest = e.First
		}
	}
	return len(l.events), retrying, oldest
}

// maxWaiting bounds the events of one pipeline that wait here. Further ones keep their place
// with the consumer, which then delivers no more.
const maxWaiting = 100_000

// full reports whether the line of a binding is as long as it may be.
func (w *Waiting) full(binding string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.line(binding).events) >= maxWaiting
}

// Waits reports whether an event waits for a pipeline.
func (w *Waiting) Waits(sequence uint64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range w.lines {
		if l.sequences[sequence] > 0 {
			return true
		}
	}
	return false
}

// dueHeap orders events by when they are taken, then as they came.
type dueHeap []*entry //nolint:recvcheck // as heap.Interface is usually implemented

func (h dueHeap) Len() int { return len(h) }

func (h dueHeap) Less(i, j int) bool {
	return cmp.Or(h[i].at.Compare(h[j].at), cmp.Compare(h[i].event, h[j].event)) < 0
}

func (h dueHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push implements heap.Interface.
func (h *dueHeap) Push(pushed any) {
	e := pushed.(*entry)
	e.index = len(*h)
	*h = append(*h, e)
}

// Pop implements heap.Interface.
func (h *dueHeap) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	e.index = -1
	return e
}
