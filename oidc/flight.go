package oidc

import (
	"context"
	"errors"
	"sync"
	"time"

	"sluice"
)

// flightTimeout bounds what those who share an answer wait for.
const flightTimeout = 10 * time.Second

// A flight lets those who ask for the same at the same time share one answer.
type flight[V any] struct {
	mu    sync.Mutex
	calls map[fingerprint]*call[V]
}

type call[V any] struct {
	done  chan struct{}
	value V
	err   error
}

// do gives what run answers. It is carried through even if the caller who
// started it gives up, since others may wait, and what it has changed elsewhere
// must be known here.
func (f *flight[V]) do(ctx context.Context, id fingerprint, run func(context.Context) (V, error)) (V, error) {
	f.mu.Lock()
	c, running := f.calls[id]
	if running {
		f.mu.Unlock()
		select {
		case <-c.done:
			return c.value, copyOf(c.err)
		case <-ctx.Done():
			var none V
			return none, unreachable(ctx.Err())
		}
	}
	c = &call[V]{done: make(chan struct{}), err: unreachable(nil)} // what the others get if run panics
	if f.calls == nil {
		f.calls = make(map[fingerprint]*call[V])
	}
	f.calls[id] = c
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		delete(f.calls, id)
		f.mu.Unlock()
		close(c.done)
	}()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flightTimeout)
	defer cancel()
	c.value, c.err = run(ctx)
	return c.value, copyOf(c.err)
}

// copyOf gives an error that its receiver may add to, as others have it too.
func copyOf(err error) error {
	if shared, ok := errors.AsType[*sluice.Error](err); ok {
		own := *shared
		return &own
	}
	return err
}
