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

// fed does something for a pipeline, and again if it finds no memory, until it ends in another way.
func (r *Runner) fed(ctx context.Context, pipeline string, do func(context.Context) error) error {
	err := do(ctx)
	if !sluice.CodeNoRunMemory.Is(err) {
		return err
	}
	if r.hunger.isNews() {
		r.Log.Warn("Runs find no memory: they begin again, one at a time. Let the pipeline make smaller values, lower "+
			"its concurrency, or raise --memory-limit.", "pipeline", pipeline)
	}
	leave, err := r.hunger.lines.Enter(ctx, pipeline)
	if err != nil {
		return err
	}
	defer leave()
	for patience := shareAgain; ; patience = min(2*patience, tellEvery) {
		err = r.inTurn(ctx, patience, do)
		if ctx.Err() != nil || !sluice.CodeNoRunMemory.Is(err) {
			return err
		}
	}
}

// shareAgain is how long a hungry run waits for its turn before it tries the share again: the run
// whose turn it is may wait for something for long. It waits twice as long each time, since what it does
// outside before it finds no memory is done again.
const shareAgain = time.Second

// inTurn does something alone if it is its turn soon, otherwise with a part of the share.
func (r *Runner) inTurn(ctx context.Context, patience time.Duration, do func(context.Context) error) error {
	select {
	case r.hunger.turn <- struct{}{}:
		defer func() { <-r.hunger.turn }()
		if err := r.Limits.Calm(ctx); err != nil {
			return err
		}
		return do(context.WithValue(ctx, aloneKey{}, true))
	case <-time.After(patience):
		return do(ctx)
	case <-ctx.Done():
		return ctx.Err()
	}
}
