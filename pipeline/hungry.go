package pipeline

import (
	"context"
	"sync"
	"time"

	"sluice"
	"sluice/limit"
	"sluice/pipeline/run"
)

// A hunger lets runs for events come back that found no memory in the share of all runs. Each
// wants more while it holds some, so together they may keep it from each other for ever. So they
// give back what they hold, and one of them at a time has as much beside the share. The others
// wait without memory, those of one pipeline behind each other: of all that wait for the turn, each
// pipeline has one, however many of its runs are hungry.
type hunger struct {
	memory *limit.Memory // of the run whose turn it is; nil: runs have no bound
	turn   chan struct{}
	lines  *limit.Lines // by pipeline

	mu   sync.Mutex
	told time.Time
}

func newHunger(shared *limit.Memory) *hunger {
	h := &hunger{turn: make(chan struct{}, 1), lines: limit.NewLines(1)}
	if shared != nil {
		h.memory = shared.Beside()
	}
	return h
}

// tellEvery is how often the log says that runs are hungry.
const tellEvery = time.Minute

// isNews reports whether the log has not said for a while that runs are hungry.
func (h *hunger) isNews() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.told.IsZero() && time.Since(h.told) < tellEvery {
		return false
	}
	h.told = time.Now()
	return true
}

// aloneKey marks the context of the run whose turn it is.
type aloneKey struct{}

// limits returns the limits of a run, and of all that runs within it.
func (r *Runner) limits(ctx context.Context) run.Limits {
	limits := r.Limits
	if ctx.Value(aloneKey{}) != nil {
		limits.Shared, limits.Alone = r.hunger.memory, true
	}
	return limits
}

// comeBack runs a pipeline again whose run found no memory, until it ends in another way.
func (r *Runner) comeBack(
	ctx context.Context, pipeline string, again func(context.Context) (sluice.Outcome, error),
) (o sluice.Outcome, err error) {
	if r.hunger.isNews() {
		r.Log.Warn("Runs find no memory: they begin again, one at a time. Let the pipeline make smaller values, lower "+
			"its concurrency, or raise --memory-limit.", "pipeline", pipeline)
	}
	leave, err := r.hunger.lines.Enter(ctx, pipeline)
	if err != nil {
		return o, err
	}
	defer leave()
	for {
		o, err = r.inTurn(ctx, again)
		if ctx.Err() != nil || !sluice.CodeNoRunMemory.Is(err) {
			return o, err
		}
	}
}

// shareAgain is how long a hungry run waits for its turn before it tries the share again: the run
// whose turn it is may wait for something for long.
const shareAgain = time.Second

// inTurn makes an attempt, alone if it is its turn soon.
func (r *Runner) inTurn(
	ctx context.Context, again func(context.Context) (sluice.Outcome, error),
) (o sluice.Outcome, err error) {
	select {
	case r.hunger.turn <- struct{}{}:
		defer func() { <-r.hunger.turn }()
		if err := r.Limits.Calm(ctx); err != nil {
			return o, err
		}
		return again(context.WithValue(ctx, aloneKey{}, true))
	case <-time.After(shareAgain):
		return again(ctx)
	case <-ctx.Done():
		return o, ctx.Err()
	}
}
