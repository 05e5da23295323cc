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
	return &Failing{store: store, log: log, latest: map[string]*sluice.PipelineState{}}
}

// Run counts a run of a pipeline.
func (f *Failing) Run(r sluice.RunReport) { f.count(r, false) }

// Former counts a run of an earlier process, unless a later one is known.
func (f *Failing) Former(r sluice.RunReport) { f.count(r, true) }

func (f *Failing) count(r sluice.RunReport, former bool) {
	if r.Delivery == 0 {
		return // no event started it
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	state := f.latest[r.Pipeline]
	if state == nil {
		stored := f.stored(r.Pipeline)
		stored.Pipeline, state = r.Pipeline, &stored
	}
	if former && !r.Ended().After(state.Time) {
		return
	}
	f.latest[r.Pipeline] = state
	failed := r.Status == sluice.StatusError
	state.Time = r.Ended().UTC()
	if failed && !state.Failing {
		state.Since = state.Time
	}
	if state.Failing = failed; failed {
		state.Cause = r.Cause()
	}
}

// Cause returns the cause of the latest failure of a pipeline, "" if it is not known.
func (f *Failing) Cause(pipeline string) string { return f.stateOf(pipeline).Cause }

// Since returns since when a pipeline has been failing, nil if it doesn't fail.
func (f *Failing) Since(p *sluice.Pipeline) *time.Time {
	state := f.stateOf(p.Name)
	if !state.Failing || p.Updated.After(state.Time) || time.Since(state.Time) > forgotten {
		return nil
	}
	return &state.Since
}

// stored returns the state of a pipeline that all nodes know.
func (f *Failing) stored(pipeline string) (state sluice.PipelineState) {
	if stored, err := f.store.Get(context.Background(), pipeline); stored != nil && err == nil {
		state = *stored
	}
	return state
}

// stateOf returns the newest known state of a pipeline.
func (f *Failing) stateOf(pipeline string) sluice.PipelineState {
	newest := f.stored(pipeline)
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
	stored, latest := map[string]*sluice.PipelineState{}, map[string]sluice.PipelineState{}
	for _, state := range f.store.All() {
		stored[state.Pipeline], latest[state.Pipeline] = state, sluice.PipelineState{} // unless it ran here
	}
	f.mu.Lock()
	for name, state := range f.latest {
		if time.Since(state.Time) > forgotten {
			delete(f.latest, name)
		} else {
			latest[name] = *state
		}
	}
	f.mu.Unlock()
	for name, state := range latest {
		if _, err := after(stored[name], state); err != nil {
			continue
		}
		if err := f.put(ctx, name, state); err != nil {
			f.log.Warn("Which pipelines fail could not be stored.", "error", err)
			return
		}
	}
}

func (f *Failing) put(ctx context.Context, pipeline string, latest sluice.PipelineState) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	_, err := sluice.Replace(ctx, f.store, pipeline, func(before *sluice.PipelineState) (*sluice.PipelineState, error) {
		return after(before, latest)
	})
	return err
}

// after returns the state to store, by the one that is stored and the latest one of this node,
// which may have none: where it changes, and again from time to time while a pipeline goes on
// failing. It is nil if the stored one does not count any more.
func after(before *sluice.PipelineState, latest sluice.PipelineState) (*sluice.PipelineState, error) {
	var was sluice.PipelineState
	if before != nil {
		was = *before
	}
	lasting := latest.Failing && was.Failing && latest.Time.Sub(was.Time) > forgotten/2
	if lasting {
		latest.Since = was.Since
	}
	switch {
	case lasting || latest.Failing != was.Failing && latest.Time.After(was.Time):
		return &latest, nil
	case before != nil && time.Since(was.Time) > forgotten:
		return nil, nil
	}
	return nil, sluice.ErrUnchanged
}
