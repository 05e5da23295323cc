package oidc

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"golang.org/x/sync/singleflight"
)

// shareTimeout bounds how long callers who share an answer wait.
const shareTimeout = 10 * time.Second

// share lets callers with the same request at the same time share one answer.
// run is carried through even if the caller who started it gives up, since
// others may wait, and what it has changed elsewhere must be known here.
func share[V any](ctx context.Context, group *singleflight.Group, key string, run func(context.Context) (V, error)) (V, error) {
	shared := group.DoChan(key, func() (_ any, err error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shareTimeout)
		defer cancel()
		defer func() {
			if reason := recover(); reason != nil { // no caller's goroutine: it would end the process
				err = unreachable(fmt.Errorf("panic: %v\n%s", reason, debug.Stack()))
			}
		}()
		return run(ctx)
	})
	var answer singleflight.Result
	select {
	case answer = <-shared:
	case <-ctx.Done():
		answer.Err = unreachable(ctx.Err())
	}
	value, _ := answer.Val.(V)
	return value, answer.Err
}
