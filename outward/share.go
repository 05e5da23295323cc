package outward

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"golang.org/x/sync/singleflight"
)

// ShareTimeout bounds how long callers who share a reply wait for it.
const ShareTimeout = 10 * time.Second

// Share lets callers with the same request at the same time share one reply. run goes on
// even if the caller who started it gives up, since others may wait, and what it has
// changed elsewhere must be known here.
func Share[V any](
	ctx context.Context, group *singleflight.Group, key string, run func(context.Context) (V, error),
) (V, error) {
	shared := group.DoChan(key, func() (_ any, err error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ShareTimeout)
		defer cancel()
		defer func() {
			if reason := recover(); reason != nil { // in this goroutine it would end the process
				err = fmt.Errorf("panic: %v\n%s", reason, debug.Stack())
			}
		}()
		return run(ctx)
	})
	var answer singleflight.Result
	select {
	case answer = <-shared:
	case <-ctx.Done():
		answer.Err = ctx.Err()
	}
	value, _ := answer.Val.(V)
	return value, answer.Err
}
