package queue

import (
	"context"
	"slices"
	"sync"
	"time"

	"sluice"
)

// A Hub wakes callers that wait for the outcomes of an event. It knows them by trace
// id, since they begin to wait before the event has a sequence: a pipeline may be done
// before its caller knows that the event is durable.
type Hub struct {
	mu      sync.Mutex
	waiters map[string][]*Waiter
}

// A Waiter is one caller that waits.
type Waiter struct {
	mu       sync.Mutex
	outcomes []eventOutcome
	signal   chan struct{} // holds one token while there are outcomes to look at
}

// eventOutcome is an outcome of the event with a sequence: several events may
// share a trace id.
type eventOutcome struct {
	sequence uint64
	outcome  sluice.Outcome
}

// NewHub returns a hub without waiters.
func NewHub() *Hub { return &Hub{waiters: make(map[string][]*Waiter)} }

// Wait begins to collect the outcomes of a trace id.
func (h *Hub) Wait(traceID string) *Waiter {
	w := &Waiter{signal: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiters[traceID] = append(h.waiters[traceID], w)
	return w
}

// Leave ends what Wait began.
func (h *Hub) Leave(traceID string, w *Waiter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	left := slices.DeleteFunc(h.waiters[traceID], func(other *Waiter) bool { return other == w })
	h.waiters[traceID] = left
	if len(left) == 0 {
		delete(h.waiters, traceID)
	}
}

// notify hands an outcome to the callers that wait for it.
func (h *Hub) notify(traceID string, sequence uint64, o sluice.Outcome) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.waiters[traceID] {
		w.mu.Lock()
		w.outcomes = append(w.outcomes, eventOutcome{sequence, o})
		w.mu.Unlock()
		select {
		case w.signal <- struct{}{}:
		default:
		}
	}
}

// Await adds the outcomes of the event with a sequence as they come, until all
// of names are there, the time is up, or ctx ends.
func (w *Waiter) Await(
	ctx context.Context, sequence uint64, names []string, outcomes map[string]sluice.Outcome, wait time.Duration,
) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		w.mu.Lock()
		for _, o := range w.outcomes {
			if o.sequence == sequence {
				outcomes[o.outcome.Pipeline] = o.outcome
			}
		}
		w.outcomes = nil
		w.mu.Unlock()
		if !slices.ContainsFunc(names, func(name string) bool { _, ok := outcomes[name]; return !ok }) {
			return
		}
		select {
		case <-w.signal:
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}
