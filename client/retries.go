package client

import (
	"cmp"
	"context"
	"time"

	"sluice"
	"sluice/wait"
)

// retries waits after failures that pass: those that say when to try again, and
// those of a server that is restarting.
type retries struct {
	forever bool
	since   time.Time // of the first failure in a row; zero means none
	count   int
}

const (
	longestTrouble = time.Minute
	longestPause   = 5 * time.Second
)

// succeeded ends a row of failures.
func (r *retries) succeeded() { r.since, r.count = time.Time{}, 0 }

// wait waits after a failure, or returns it if trying again makes no sense.
func (r *retries) wait(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e := sluice.AsError(err)
	if e.Kind != sluice.Unavailable && e.Kind != sluice.Throttled {
		return err
	}
	now := time.Now()
	if r.since.IsZero() {
		r.since = now
	}
	if !r.forever && e.Kind == sluice.Unavailable && now.Sub(r.since) > longestTrouble {
		return err
	}
	pause := cmp.Or(e.RetryAfter, min(100*time.Millisecond<<min(r.count, 10), longestPause))
	r.count++
	return wait.For(ctx, pause)
}
