// Package wait waits for a while, and no longer than its caller wants.
package wait

import (
	"context"
	"time"
)

// For waits for d. It returns the error of ctx as soon as that has ended.
func For(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
