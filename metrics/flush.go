package metrics

import (
	"context"
	"time"
)

// flushAlways calls flush regularly until ctx ends, and then once more.
func flushAlways(ctx context.Context, every time.Duration, flush func(context.Context)) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			flush(ctx)
		case <-ctx.Done():
			flush(context.WithoutCancel(ctx))
			return
		}
	}
}
