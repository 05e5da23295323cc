package metrics

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"sluice"
)

const (
	forgotten    = 24 * time.Hour  // after so long without a run, failures don't count
	failingEvery = 5 * time.Second // how often changes are stored
)

// Failing knows which pipelines fail now: those whose latest run for an event failed. A
// successful run ends that, and so does storing the pipeline again, or a day without a run. A
// store tells other nodes, and the next process.
type Failing struct {
	store sluice.Records[sluice.PipelineState]
	log   *slog.Logger

	mu     sync.Mutex
	latest map[string]*sluice.PipelineState // by the name of the pipeline, of runs on this node
}

// NewFailing returns a Failing with a store. Nothing is stored until Keep runs.
func NewFailing(store sluice.Records[sluice.PipelineState], log *slog.Logger) *Failing {
	return &Failing{store: store, log: log, latest: make(map[string]*sluice.PipelineState)}
}

// Run counts a run of a pipeline.
func (f *Failing) Run(r sluice.RunReport) {
	if r.Delivery == 0 {
		return // no event started it
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	state := f.latest[r.Pipeline]
	if state == nil {
		state = &sluice.PipelineState{Pipeline: r.Pipeline}
		f.latest[r.Pipeline] = state
	}
	failed := r.Status == sluice.StatusError
	state.Time = time.Now().UTC()
	if failed && !state.Failing {
		state.Since = state.Time
	}
	state.Failing = failed
}

// Since returns since when a pipeline has been failing, nil if it doesn't fail.
func (f *Failing) Since(p *sluice.Pipeline) *time.Time {
	state := f.stateOf(p.Name)
	if !state.Failing || p.Updated.After(state.Time) || time.Since(state.Time) > forgotten {
		return nil
	}
	return &state.Since
}

// stateOf returns the newest known state of a pipeline.
func (f *Failing) stateOf(pipeline string) (newest sluice.PipelineState) {
	stored, err := f.store.Get(context.Background(), pipeline)
	if stored != nil && err == nil {
		newest = *stored
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if state := f.latest[pipeline]; state != nil && state.Time.After(newest.Time) {
		return *state
	}
	return newest
}

// Keep stores which pipelines start or stop failing, until ctx ends.
func (f *Failing) Keep(ctx context.Context) { flushAlways(ctx, failingEvery, f.flush) }

// flush stores new states and deletes old ones. The next flush retries what fails.
func (f *Failing) flush(ctx context.Context) {
	stored := make(map[string]*sluice.PipelineState)
	for _, state := range f.store.All() {
		stored[state.Pipeline] = state
	}
	var changed []sluice.PipelineState
	f.mu.Lock()
	for name, latest := range f.latest {
		if time.Since(latest.Time) > forgotten {
			delete(f.latest, name)
		} else if _, err := after(stored[name], *latest); err == nil {
			changed = append(changed, *latest)
		}
	}
	f.mu.Unlock()
	for _, latest := range changed {
		err := f.change(ctx, latest.Pipeline, func(before *sluice.PipelineState) (*sluice.PipelineState, error) {
			return after(before, latest)
		})
		if err != nil {
			f.log.Warn("Which pipelines fail could not be stored.", "error", err)
			return
		}
		delete(stored, latest.Pipeline)
	}
	for name, state := range stored {
		if time.Since(state.Time) <= forgotten {
			continue
		}
		if err := f.change(ctx, name, withoutOld); err != nil {
			f.log.Warn("That a pipeline failed long ago could not be forgotten.", "error", err)
			return
		}
	}
}

// change replaces the stored state of a pipeline by what decide makes of it.
func (f *Failing) change(
	ctx context.Context, pipeline string, decide func(before *sluice.PipelineState) (*sluice.PipelineState, error),
) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	_, err := f.store.Change(ctx, pipeline,
		func(before *sluice.PipelineState, _ map[string]*sluice.PipelineState) (*sluice.PipelineState, error) {
			return decide(before)
		})
	return sluice.Changed(err)
}

// after returns the state to store, by the one that is stored and the latest one of this node:
// where it changes, and again from time to time while a pipeline goes on failing.
func after(before *sluice.PipelineState, latest sluice.PipelineState) (*sluice.PipelineState, error) {
	if before == nil {
		before = &sluice.PipelineState{}
	}
	lasting := latest.Failing && before.Failing && latest.Time.Sub(before.Time) > forgotten/2
	if lasting {
		latest.Since = before.Since
	}
	if lasting || latest.Failing != before.Failing && latest.Time.After(before.Time) {
		return &latest, nil
	}
	return nil, sluice.ErrUnchanged
}

// withoutOld deletes a state that does not count any more.
func withoutOld(before *sluice.PipelineState) (*sluice.PipelineState, error) {
	if before == nil || time.Since(before.Time) <= forgotten {
		return nil, sluice.ErrUnchanged
	}
	return nil, nil
}
