package metrics

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"sluice"
)

const (
	minutesKept  = 24 * 60
	hoursKept    = 30 * 24
	maxNamed     = 500 // webhooks, and pipelines, that an hour counts one by one
	maxExpected  = 500 // webhooks beyond those, if calls of them are expected
	flushEvery   = 5 * time.Second
	storeTimeout = 5 * time.Second
)

// Minutes counts calls and runs by the minute for the last day, and by the hour for the last
// 30 days. Every node adds its counts every few seconds; what a crash loses of them is counted
// anew, see Recount.
// What became of a call is counted in the minute in which the call came.
type Minutes struct {
	// Expects, if set, reports whether calls of a webhook are expected. Such a webhook has
	// figures of its own however many others are called: otherwise it would seem silent.
	Expects func(eventKey string) bool

	// FormerRun, if set, is told of the runs that are counted anew.
	FormerRun func(sluice.RunReport)

	unfinished func(context.Context) (sluice.Unfinished, error)
	log        *slog.Logger

	// storing is held while counts move to the store, so that a reader never finds them in
	// neither place or in both. It is locked before mu.
	storing              sync.Mutex
	minutes, hours, days *series

	recounting sync.Mutex // held while earlier calls are counted anew, so that nothing is stored between; see Recount

	mu      sync.Mutex
	counted map[time.Time]*sluice.Minute // since the last flush
	of      sluice.WebhookFigures        // those that are counted in now: a call makes no garbage
	late    []sluice.CallEnd             // ends while earlier calls are counted anew; nil: they are not

	recounted map[string]sluice.Status // how far earlier calls were when they were counted anew, by trace id
}

// NewMinutes returns the counts in two stores. Nothing is stored until Keep runs. The
// function says which calls are not done.
func NewMinutes(
	minutes, hours sluice.Records[sluice.Minute], unfinished func(context.Context) (sluice.Unfinished, error),
	log *slog.Logger,
) *Minutes {
	return &Minutes{
		unfinished: unfinished,
		log:        log,
		minutes:    newSeries(minutes, time.Minute, minutesKept),
		hours:      newSeries(hours, time.Hour, hoursKept),
		days:       daysIn(hours),
		counted:    map[time.Time]*sluice.Minute{},
	}
}

// Call counts a call of a webhook.
func (m *Minutes) Call(c sluice.Call) {
	if c.Status == sluice.StatusHandshake {
		return
	}
	m.count(callTime(c.TraceID, c.Time), c.EventKey, func(minute *sluice.Minute, of *sluice.WebhookFigures) {
		of.Last = c.Time
		if c.CorrelationID != "" {
			minute.Accepted++
			of.Accepted++
			of.LastAccepted = c.Time
			minute.Latencies[latencyBound(c.Duration-c.Waited)]++
			if c.Type != "" {
				addType(minute, c.EventKey, c.Type, sluice.TypeFigures{Calls: 1, Last: c.Time})
			}
			return
		}
		minute.Rejected++
		of.Rejected++
		if c.StatusCode >= http.StatusInternalServerError {
			minute.Unavailable++
		}
	})
}

// Sent counts an event that no call set off.
func (m *Minutes) Sent(traceID string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at(callTime(traceID, time.Now())).Events.Accepted++
}

// Settled counts what became of an accepted call, or of an event that no call set off: it went
// well, failed for good, or recovered after that.
func (m *Minutes) Settled(end sluice.CallEnd) {
	if m.isFormer(end) {
		return
	}
	at := callTime(end.TraceID, time.Now())
	if end.Sent {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.at(at).Events.End(end.Status)
		return
	}
	m.count(at, end.EventKey, func(minute *sluice.Minute, of *sluice.WebhookFigures) {
		minute.End(end.Status)
		of.End(end.Status)
	})
}

// callTime returns when a call came.
func callTime(traceID string, otherwise time.Time) time.Time {
	if at, ok := sluice.TraceTime(traceID); ok {
		return at
	}
	return otherwise
}

// Run counts a run of a pipeline, or an event that it did not want, in the minute of its end.
func (m *Minutes) Run(r sluice.RunReport) {
	m.mu.Lock()
	defer m.mu.Unlock()
	minute := m.at(r.Ended())
	of := sluice.RunFigures{Runs: 1}
	switch r.Status {
	case sluice.StatusError:
		of.Errors = 1
	case sluice.StatusPassed:
		of = sluice.RunFigures{Passed: 1}
	}
	minute.Runs += of.Runs
	minute.RunErrors += of.Errors
	addRuns(minute.Pipelines, r.Pipeline, of)
}

// Passed counts an event that a pipeline did not want.
func (m *Minutes) Passed(pipeline string) {
	m.Run(sluice.RunReport{Pipeline: pipeline, Status: sluice.StatusPassed, Started: time.Now()})
}

// addRuns adds to the runs of a pipeline. Pipelines beyond the limit share the empty name with
// sources that are not stored.
func addRuns(pipelines map[string]sluice.RunFigures, name string, runs sluice.RunFigures) {
	if _, known := pipelines[name]; !known && len(pipelines) >= maxNamed {
		name = ""
	}
	of := pipelines[name]
	of.Add(runs)
	pipelines[name] = of
}

// count adds to the counts of a minute and of a webhook in it. Webhooks beyond the limit
// share the empty key with unknown ones.
func (m *Minutes) count(at time.Time, eventKey string, add func(*sluice.Minute, *sluice.WebhookFigures)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	minute := m.at(at)
	var known bool
	if m.of, known = minute.Webhooks[eventKey]; !known {
		m.of.Expected = m.Expects != nil && m.Expects(eventKey)
	}
	key := countedAs(minute.Webhooks, eventKey, m.of.Expected)
	if key != eventKey {
		m.of = minute.Webhooks[key]
	}
	add(minute, &m.of)
	minute.Webhooks[key] = m.of
}

// countedAs returns the key that a webhook is counted by among others.
func countedAs(webhooks map[string]sluice.WebhookFigures, eventKey string, expected bool) string {
	if _, known := webhooks[eventKey]; known || len(webhooks) < maxNamed ||
		expected && len(webhooks) < maxNamed+maxExpected {
		return eventKey
	}
	return ""
}

// at returns the counts of the minute of a time.
func (m *Minutes) at(t time.Time) *sluice.Minute {
	start := t.UTC().Truncate(time.Minute)
	minute := m.counted[start]
	if minute == nil {
		minute = &sluice.Minute{
			Time: start, Latencies: make([]int, len(latencyBounds)), Webhooks: map[string]sluice.WebhookFigures{},
			Pipelines: map[string]sluice.RunFigures{}, Events: new(sluice.CallFigures),
		}
		m.counted[start] = minute
	}
	return minute
}

// Keep stores the counts every few seconds, and the rest when ctx ends.
func (m *Minutes) Keep(ctx context.Context) {
	flushAlways(ctx, flushEvery, func(ctx context.Context) { m.Flush(ctx) })
}

// Flush stores the counts, and reports whether it could. Those that fail stay in memory.
func (m *Minutes) Flush(ctx context.Context) (all bool) {
	m.recounting.Lock()
	defer m.recounting.Unlock()
	m.storing.Lock()
	defer m.storing.Unlock()
	m.mu.Lock()
	counted := m.counted
	m.counted = map[time.Time]*sluice.Minute{}
	m.mu.Unlock()
	for _, minute := range counted {
		if minute.Types != nil {
			m.days.wait(&sluice.Minute{Time: minute.Time, Types: minute.Types})
		}
		minute.Latencies, minute.Types = trimmed(minute.Latencies), nil
		m.hours.wait(minute)
		minute.Webhooks, minute.Pipelines = nil, nil
		m.minutes.wait(minute)
	}
	for _, s := range []*series{m.minutes, m.hours, m.days} {
		if err := s.flush(ctx); err != nil {
			m.log.Warn("Figures could not be stored; trying on.", "error", err)
			return false // the engine is away: a stop must not wait for it twice
		}
	}
	return true
}

// Last returns the last minutes in order, with the current one, at most a day. They have
// quantiles instead of latencies.
func (m *Minutes) Last(ctx context.Context, count int) []sluice.Minute {
	return m.sums(ctx, m.minutes, count)
}

// LastHours returns the last hours likewise, at most 30 days.
func (m *Minutes) LastHours(ctx context.Context, count int) []sluice.Minute {
	return m.sums(ctx, m.hours, count)
}

// sums returns the last sums of a series, without the figures of single webhooks and pipelines.
func (m *Minutes) sums(ctx context.Context, s *series, count int) []sluice.Minute {
	sums := m.last(ctx, s, count)
	for i := range sums {
		sum := &sums[i]
		sum.P50, sum.P99 = quantile(sum.Latencies, 0.5), quantile(sum.Latencies, 0.99)
		sum.Latencies, sum.Webhooks, sum.Pipelines, sum.Calls = nil, nil, nil, &sum.CallFigures
	}
	return sums
}

// Webhooks returns the figures of one webhook, or of all ("") that were called in the last hours, those with
// most calls first. In an hour with too many webhooks, only the first called have their own figures.
func (m *Minutes) Webhooks(ctx context.Context, count int, only string) []sluice.WebhookStats {
	hours, types := m.last(ctx, m.hours, count), m.types()
	found := map[string]*sluice.WebhookStats{}
	find := func(key string) *sluice.WebhookStats {
		of := found[key]
		if of == nil {
			of = &sluice.WebhookStats{
				EventKey: key, Hours: make([]int, len(hours)), Figures: make([]sluice.CallFigures, len(hours)),
				Types: busiest(types[key]),
			}
			found[key] = of
		}
		return of
	}
	if types[only] != nil {
		find(only)
	}
	for i, hour := range hours {
		for key, figures := range hour.Webhooks {
			if key == "" || only != "" && key != only {
				continue
			}
			of := find(key)
			of.Add(figures.CallFigures)
			of.Last = later(of.Last, figures.Last)
			of.Hours[i] += figures.Accepted + figures.Rejected
			of.Figures[i] = figures.CallFigures
		}
	}
	all := make([]sluice.WebhookStats, 0, len(found))
	for _, of := range found {
		all = append(all, *of)
	}
	slices.SortFunc(all, func(a, b sluice.WebhookStats) int {
		return cmp.Or(cmp.Compare(b.Accepted+b.Rejected, a.Accepted+a.Rejected), cmp.Compare(a.EventKey, b.EventKey))
	})
	return all
}

// ByWebhook returns the last hours in order, with the figures of webhooks: how many calls were
// accepted and when, not what became of them.
func (m *Minutes) ByWebhook(count int) []sluice.Minute {
	m.storing.Lock()
	defer m.storing.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.hours.last(count, m.counted)
}

// Runs returns the runs of some pipelines over the last hours. In an hour with too many pipelines,
// only the first that ran have their own figures.
func (m *Minutes) Runs(ctx context.Context, counts func(pipeline string) bool, count int) sluice.PipelineRuns {
	hours := m.last(ctx, m.hours, count)
	of := sluice.PipelineRuns{Hours: make([]sluice.RunFigures, len(hours))}
	for i, hour := range hours {
		for name, runs := range hour.Pipelines {
			if counts(name) {
				of.Hours[i].Add(runs)
			}
		}
		of.Add(of.Hours[i])
	}
	return of
}

// last returns the last sums of a series, with counts that are not stored yet, and with each
// accepted call in one state.
func (m *Minutes) last(ctx context.Context, s *series, count int) []sluice.Minute {
	unfinished, err := m.unfinished(ctx)
	if err != nil { // the engine is away, so nothing can be said to be done
		unfinished.Since = time.Unix(0, 0)
	}
	m.storing.Lock()
	defer m.storing.Unlock()
	m.mu.Lock()
	sums := s.last(count, m.counted)
	m.mu.Unlock()
	complete(sums, s.period, unfinished)
	return sums
}
