package queue

import (
	"context"
	"time"
)

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
