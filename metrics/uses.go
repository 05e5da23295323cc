package metrics

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sluice"
)

const (
	usesEvery = time.Second // how often uses are stored
	useLasts  = time.Minute // a thing's uses within this time are stored once
)

// Uses stores when things were last used, to the minute, in their records. Users of a thing
// don't wait for that.
type Uses[T any] struct {
	store sluice.Records[T]
	of    func(record *T, part string) *time.Time
	log   *slog.Logger

	mu   sync.Mutex
	used map[use]time.Time // since the last flush
}

// A use is of the record with a name, or of a part of it.
type use struct{ name, part string }

// NewUses returns the uses of the records in a store. of returns the field with the last use
// of a part of a record, in which it may replace what the original shares with it; nil if it
// has no such part. Nothing is stored until Keep runs.
func NewUses[T any](store sluice.Records[T], of func(record *T, part string) *time.Time, log *slog.Logger) *Uses[T] {
	return &Uses[T]{store: store, of: of, log: log, used: make(map[use]time.Time)}
}

// Note notes that the thing with that name is used now. The thing must exist: names that
// callers invent would fill the memory.
func (u *Uses[T]) Note(name string) { u.NotePart(name, "") }

// NotePart notes that a part of the thing with that name is used now.
func (u *Uses[T]) NotePart(name, part string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.used[use{name, part}] = time.Now().UTC().Truncate(time.Second)
}

// Keep stores uses until ctx ends.
func (u *Uses[T]) Keep(ctx context.Context) { flushAlways(ctx, usesEvery, u.flush) }

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

// flush stores the noted uses. It drops what it can't store: the next use will come.
func (u *Uses[T]) flush(ctx context.Context) {
	u.mu.Lock()
	used := u.used
	u.used = make(map[use]time.Time)
	u.mu.Unlock()
	for of, at := range used {
		if err := u.put(ctx, of, at); err != nil {
			u.log.Warn("When something was last used could not be stored.", "error", err)
			return
		}
	}
}

func (u *Uses[T]) put(ctx context.Context, of use, at time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	stored, err := u.store.Get(ctx, of.name)
	if err != nil || u.after(stored, of.part, at) == nil {
		return err
	}
	_, err = u.store.Change(ctx, of.name, func(before *T, _ map[string]*T) (*T, error) {
		if after := u.after(before, of.part, at); after != nil {
			return after, nil
		}
		return nil, sluice.ErrUnchanged
	})
	return sluice.Changed(err)
}

// after returns a record with a use in it, nil if that is not worth storing.
func (u *Uses[T]) after(before *T, part string, at time.Time) *T {
	if before == nil {
		return nil
	}
	after := *before
	last := u.of(&after, part)
	if last == nil || at.Sub(*last) < useLasts {
		return nil
	}
	*last = at
	return &after
}

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
	stored := make(map[string]sluice.PipelineState)
	for _, state := range f.store.All() {
		stored[state.Pipeline] = *state
	}
	var changed []sluice.PipelineState
	f.mu.Lock()
	for name, latest := range f.latest {
		if time.Since(latest.Time) > forgotten {
			delete(f.latest, name)
			continue
		}
		state, before := *latest, stored[name]
		lasting := state.Failing && before.Failing && state.Time.Sub(before.Time) > forgotten/2
		if lasting {
			state.Since = before.Since
		}
		if lasting || state.Failing != before.Failing && state.Time.After(before.Time) {
			changed = append(changed, state)
		}
	}
	f.mu.Unlock()
	for _, state := range changed {
		if err := f.put(ctx, state); err != nil {
			f.log.Warn("Which pipelines fail could not be stored.", "error", err)
			return
		}
		delete(stored, state.Pipeline)
	}
	for name, state := range stored {
		if time.Since(state.Time) <= forgotten {
			continue
		}
		if err := f.remove(ctx, name); err != nil {
			f.log.Warn("That a pipeline failed long ago could not be forgotten.", "error", err)
			return
		}
	}
}

func (f *Failing) remove(ctx context.Context, pipeline string) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	return sluice.Remove(ctx, f.store, pipeline)
}

func (f *Failing) put(ctx context.Context, state sluice.PipelineState) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	_, err := f.store.Change(ctx, state.Pipeline, func(*sluice.PipelineState, map[string]*sluice.PipelineState) (*sluice.PipelineState, error) {
		return &state, nil
	})
	return err
}

const (
	// maxWebhookLabels is how many webhooks, the busiest ones, have metrics of their own.
	maxWebhookLabels = 1000
	otherWebhooks    = "other" // the label that the others share
)

var (
	callEnds = description("sluice_webhook_calls_total", "Calls of a webhook, by what became of them, once that is final: ok, error or rejected. A failed call whose replay went well counts as recovered besides. Webhooks beyond the 1,000 busiest count as other.", "webhook", "status")
	lastCall = description("sluice_webhook_last_call_timestamp_seconds", "When the last accepted call of a webhook came.", "webhook")
)

// webhookCalls collects what became of the calls of each webhook, since the start.
type webhookCalls struct {
	mu sync.Mutex
	by map[string]*webhookCounts // by event key
}

type webhookCounts struct {
	ends  map[sluice.Status]int
	total int
	last  time.Time // of an accepted call
}

func (w *webhookCalls) of(eventKey string) *webhookCounts {
	c := w.by[eventKey]
	if c == nil {
		c = &webhookCounts{ends: make(map[sluice.Status]int)}
		w.by[eventKey] = c
	}
	return c
}

// came notes that a call was accepted.
func (w *webhookCalls) came(eventKey string, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.of(eventKey)
	c.last = later(c.last, at)
}

// ended counts a call whose state is final.
func (w *webhookCalls) ended(eventKey string, status sluice.Status) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.of(eventKey)
	c.ends[status]++
	c.total++
}

// Describe implements prometheus.Collector.
func (w *webhookCalls) Describe(ch chan<- *prometheus.Desc) {
	ch <- callEnds
	ch <- lastCall
}

// Collect implements prometheus.Collector.
func (w *webhookCalls) Collect(ch chan<- prometheus.Metric) {
	w.mu.Lock()
	defer w.mu.Unlock()
	keys := slices.SortedFunc(maps.Keys(w.by), func(a, b string) int {
		return cmp.Or(cmp.Compare(w.by[b].total, w.by[a].total), cmp.Compare(a, b))
	})
	own, others := keys[:min(len(keys), maxWebhookLabels)], keys[min(len(keys), maxWebhookLabels):]
	for _, key := range own {
		w.by[key].collect(ch, key)
	}
	if len(others) == 0 {
		return
	}
	sum := webhookCounts{ends: make(map[sluice.Status]int)}
	for _, key := range others {
		for status, n := range w.by[key].ends {
			sum.ends[status] += n
		}
		sum.last = later(sum.last, w.by[key].last)
	}
	sum.collect(ch, otherWebhooks)
}

func (c *webhookCounts) collect(ch chan<- prometheus.Metric, label string) {
	for status, n := range c.ends {
		ch <- prometheus.MustNewConstMetric(callEnds, prometheus.CounterValue, float64(n), label, string(status))
	}
	if !c.last.IsZero() {
		ch <- prometheus.MustNewConstMetric(lastCall, prometheus.GaugeValue, float64(c.last.UnixMilli())/1000, label)
	}
}
