package api

import (
	"context"
	"time"

	"sluice"
)

// draining reports whether the server stops.
func (a *API) draining() bool {
	select {
	case <-a.Stopping:
		return true
	default:
		return false
	}
}

// Idle reports for how long nobody has called a server that stops.
func (a *API) Idle() time.Duration {
	if a.begun.Load() > 0 || a.late.Load() == nil {
		a.late.Store(new(time.Now()))
	}
	return time.Since(*a.late.Load())
}

// Draining is what a server that stops says of its readiness, and to callers whose runs
// take too long for it: 503 with Retry-After, and the connection is closed.
func Draining() error {
	return sluice.Passing(sluice.CodeDraining, "The server is stopping.").Closing()
}

// Interrupt ends the commands that are running. Those that can end early tell their
// callers that the server stops.
func (a *API) Interrupt() { a.interrupt(Draining()) }

// interruptible returns a context that ends with ctx, and when Interrupt is called.
func (a *API) interruptible(ctx context.Context) (_ context.Context, leave func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(a.interrupted, func() { cancel(context.Cause(a.interrupted)) })
	return ctx, func() { stop(); cancel(nil) }
}
