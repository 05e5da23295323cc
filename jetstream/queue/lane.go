package queue

import (
	"container/heap"
	"context"
	"time"
)

// A lane is what is known of the events that wait for one pipeline.
type lane struct {
	events    map[string]*waiter // by key
	sequences map[uint64]int     // of those events, in the stream of events
	due       dueHeap            // those of them that nobody runs here
	changed   chan struct{}      // closed and replaced when there is more to look at
	used      bool               // an event has waited here since the start
}

// A waiter is an event that waits.
type waiter struct {
	key string
	state
	place int // in the heap; -1: it is run here
}

func (w *Waiting) lane(binding string) *lane {
	l := w.lanes[binding]
	if l == nil {
		l = &lane{events: make(map[string]*waiter), sequences: make(map[uint64]int), changed: make(chan struct{})}
		w.lanes[binding] = l
	}
	return l
}

// expect says that a state is about to be stored.
func (w *Waiting) expect(binding string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lane(binding).used = true
}

// may reports whether an event may wait for a binding, with its place or without.
// Within one process the index knows.
func (w *Waiting) may(binding string) bool {
	if !w.host.SoleWriter {
		return true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.lanes[binding]
	return w.behind > 0 || l != nil && l.used
}

// note takes notice of a state that was stored, with so many behind it.
func (w *Waiting) note(binding, key string, s state, behind uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.behind = min(w.behind, behind)
	l := w.lane(binding)
	l.used = true
	e := l.events[key]
	switch {
	case s.Held, s.Node == w.node, e != nil && s.sequence < e.sequence:
		return
	case e == nil:
		e = &waiter{key: key, place: -1}
		l.events[key] = e
		l.sequences[sequenceOf(key)]++
	}
	e.state = s
	l.enter(e)
}

// enter lets an event wait until it is due.
func (l *lane) enter(e *waiter) {
	if e.place >= 0 {
		heap.Fix(&l.due, e.place)
	} else {
		heap.Push(&l.due, e)
	}
	close(l.changed)
	l.changed = make(chan struct{})
}

// await returns when an event is due, or with the error of ctx.
func (w *Waiting) await(ctx context.Context, binding string) error {
	for {
		w.mu.Lock()
		l := w.lane(binding)
		changed, wait := l.changed, time.Duration(-1)
		if len(l.due) > 0 {
			wait = min(max(0, w.left(l.due[0].Due)), lookAgain)
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

// take takes the event that is due next out of those that wait, nil if none is.
// It ends with again, or with drop.
func (w *Waiting) take(binding string) *waiter {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.lane(binding)
	if len(l.due) == 0 || w.left(l.due[0].Due) > 0 {
		return nil
	}
	taken := *heap.Pop(&l.due).(*waiter)
	return &taken
}

// again lets an event that was taken wait once more, for a while.
func (w *Waiting) again(binding, key string, wait time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.lane(binding)
	if e := l.events[key]; e != nil && e.place < 0 {
		e.Due = w.now().Add(wait).Round(0) // the heap has one order: that of the clock on the wall
		l.enter(e)
	}
}

// forget takes an event out of the index.
func (w *Waiting) forget(binding, key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.lane(binding)
	e := l.events[key]
	if e == nil {
		return
	}
	if e.place >= 0 {
		heap.Remove(&l.due, e.place)
	}
	delete(l.events, key)
	if sequence := sequenceOf(key); l.sequences[sequence] > 1 {
		l.sequences[sequence]--
	} else {
		delete(l.sequences, sequence)
	}
}

// known returns the bindings that the index has something of.
func (w *Waiting) known() map[string]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	bindings := make(map[string]bool)
	for binding := range w.lanes {
		bindings[binding] = true
	}
	return bindings
}

// count returns how many events wait for a binding, and since when the oldest of
// those that were tried does.
func (w *Waiting) count(binding string) (count int, oldest time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.lanes[binding]
	if l == nil {
		return 0, oldest
	}
	for _, e := range l.events {
		if oldest.IsZero() || !e.First.IsZero() && e.First.Before(oldest) {
			oldest = e.First
		}
	}
	return len(l.events), oldest
}

// full reports whether no more events of a binding may wait here.
func (w *Waiting) full(binding string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.lanes[binding]
	return l != nil && len(l.events) >= maxWaiting
}

// Waits reports whether an event waits for a pipeline.
func (w *Waiting) Waits(sequence uint64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range w.lanes {
		if l.sequences[sequence] > 0 {
			return true
		}
	}
	return false
}

// dueHeap orders events by when they are due.
type dueHeap []*waiter //nolint:recvcheck // as heap.Interface is usually implemented

func (h dueHeap) Len() int           { return len(h) }
func (h dueHeap) Less(i, j int) bool { return h[i].Due.Before(h[j].Due) }
func (h dueHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

// Push implements heap.Interface.
func (h *dueHeap) Push(e any) {
	w := e.(*waiter)
	w.place = len(*h)
	*h = append(*h, w)
}

// Pop implements heap.Interface.
func (h *dueHeap) Pop() any {
	last := len(*h) - 1
	w := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	w.place = -1
	return w
}
