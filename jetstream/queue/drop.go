package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/durable"
	"sluice/jetstream/stream"
)

// drop removes an event that is done. If that fails, the event is removed when it is due.
func (w *Waiting) drop(ctx context.Context, binding, key string) {
	if !w.may(binding) {
		return
	}
	w.forget(binding, key)
	w.remove(ctx, waitingSubject(binding, key, "*"))
}

// dropAll removes all events that wait for a binding.
func (w *Waiting) dropAll(ctx context.Context, binding string) {
	w.mu.Lock()
	delete(w.lines, binding)
	w.mu.Unlock()
	w.remove(ctx, stream.WaitingPrefix+binding+".>")
}

// stored returns the bindings that any node has stored an event or a state for.
func (w *Waiting) stored(ctx context.Context) (bindings map[string]bool, err error) {
	if w.stream.CachedInfo().State.Msgs == 0 {
		return nil, nil
	}
	info, err := w.stream.Info(ctx, jetstream.WithSubjectFilter(stream.WaitingPrefix+">"))
	if err != nil {
		return nil, err
	}
	bindings = make(map[string]bool)
	for subject := range info.State.Subjects {
		if binding, _, ok := waitingKey(subject); ok {
			bindings[binding] = true
		}
	}
	return bindings, nil
}

func (w *Waiting) remove(ctx context.Context, subject string) {
	if err := w.stream.Purge(ctx, jetstream.WithPurgeSubject(subject)); err != nil && ctx.Err() == nil {
		w.host.Log.Warn("What no longer waits could not be removed.", "error", err)
	}
	w.dirty.Store(true)
}

// syncRemovals regularly syncs the blocks that the engine rewrites to remove events. An
// event that is back after a power cut has an outcome, and is removed again.
func (w *Waiting) syncRemovals(running context.Context, blocks *durable.Blocks) {
	w.host.Every(running, waitingSync, func(time.Time) {
		if w.dirty.Swap(false) {
			if err := blocks.Sync(); err != nil {
				w.host.Fail(fmt.Errorf("sync of waiting events: %w", err))
			}
		}
	})
}
