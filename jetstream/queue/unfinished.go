package queue

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/correlation"
)

// Unfinished says which calls are not done.
func (q *Queue) Unfinished(ctx context.Context) (u sluice.Unfinished, err error) {
	since := func(at time.Time) {
		if u.Since.IsZero() || at.Before(u.Since) {
			u.Since = at
		}
	}
	bound := q.listeners.Bound()
	states, err := q.states(ctx, bound)
	if err != nil {
		return u, err
	}
	for id := range bound {
		oldest, err := q.oldestCall(ctx, states[id])
		if err != nil {
			return u, err
		}
		if !oldest.IsZero() {
			since(oldest)
		}
	}
	u.Retrying = q.waiting.calls()
	for _, call := range u.Retrying {
		since(call.Time)
	}
	return u, nil
}

// oldestCall returns when the first event came that a consumer is not done with, zero if
// there is none. A lost consumer may not be done with any.
func (q *Queue) oldestCall(ctx context.Context, info *jetstream.ConsumerInfo) (time.Time, error) {
	if info == nil {
		return time.Unix(0, 0), nil
	}
	msg, err := q.oldestUnfinished(ctx, info)
	if msg == nil || err != nil {
		return time.Time{}, err
	}
	if e, err := correlation.ReadEnvelope(msg); err == nil {
		return e.Received, nil
	}
	return msg.Time, nil
}

// calls returns the calls that are tried again, each once: several pipelines may have
// failed on it.
func (w *Waiting) calls() (calls []sluice.WaitingCall) {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := make(map[string]bool)
	add := func(key string, s *state) {
		if s.Attempts > 0 && !s.Call.IsZero() && !seen[key] {
			seen[key] = true
			calls = append(calls, sluice.WaitingCall{EventKey: s.EventKey, Time: s.Call})
		}
	}
	for _, l := range w.lines {
		for key, e := range l.events {
			add(key, &e.state)
		}
		for h := range l.held {
			add(h.key, &h.state)
		}
	}
	return calls
}
