package metrics

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"sluice"
)

const (
	minutesKept  = 24 * 60
	maxPending   = 60 // minutes kept while the engine stores nothing
	storeTimeout = 5 * time.Second
)

// Minutes sums up calls and runs minute by minute, and keeps the last day. The
// store has one record for each minute of the day, to which every node adds, so
// it never grows.
type Minutes struct {
	store sluice.Records[sluice.Minute]
	log   *slog.Logger

	mu      sync.Mutex
	current sluice.Minute
	pending []sluice.Minute // that are not stored yet
}

// NewMinutes returns the sums of a store. Nothing is stored until Keep runs.
func NewMinutes(store sluice.Records[sluice.Minute], log *slog.Logger) *Minutes {
	return &Minutes{store: store, log: log}
}

// Call counts a call of a webhook.
func (m *Minutes) Call(c sluice.Call) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.roll(time.Now())
	switch {
	case c.Status == sluice.StatusHandshake:
	case c.CorrelationID != "":
		m.current.Accepted++
		m.current.Latencies[latencyBound(c.Duration)]++
	case c.StatusCode >= http.StatusInternalServerError:
		m.current.Failed++
	default:
		m.current.Refused++
	}
}

// Run counts a run of a pipeline.
func (m *Minutes) Run(r sluice.RunReport) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.roll(time.Now())
	m.current.Runs++
	if r.Status == sluice.StatusError {
		m.current.RunErrors++
	}
}

// roll begins a new minute where one is due.
func (m *Minutes) roll(now time.Time) {
	start := now.UTC().Truncate(time.Minute)
	if start.Equal(m.current.Time) {
		return
	}
	m.setAside()
	m.current = sluice.Minute{Time: start, Latencies: make([]int, len(latencyBounds))}
}

// setAside moves the counts of the minute to those that wait to be stored.
func (m *Minutes) setAside() {
	if m.current.Accepted+m.current.Refused+m.current.Failed+m.current.Runs > 0 {
		m.current.Latencies = trimmed(m.current.Latencies)
		m.pending = append(m.pending, m.current)
		m.pending = m.pending[max(0, len(m.pending)-maxPending):]
	}
	m.current = sluice.Minute{}
}

// Keep stores each minute when it is over, until ctx ends, and then the rest.
func (m *Minutes) Keep(ctx context.Context) {
	for {
		next := time.Now().Truncate(time.Minute).Add(time.Minute)
		timer := time.NewTimer(time.Until(next))
		select {
		case <-timer.C:
			m.mu.Lock()
			m.roll(time.Now())
			m.mu.Unlock()
			m.flush(ctx)
		case <-ctx.Done():
			timer.Stop()
			m.mu.Lock()
			m.setAside()
			m.mu.Unlock()
			m.flush(context.WithoutCancel(ctx))
			return
		}
	}
}

// flush stores the minutes that wait. Those that fail go on waiting.
func (m *Minutes) flush(ctx context.Context) {
	m.mu.Lock()
	waiting := m.pending
	m.pending = nil
	m.mu.Unlock()
	for i, minute := range waiting {
		if err := m.add(ctx, minute); err != nil {
			m.log.Warn("The counts of a minute could not be stored.", "error", err)
			m.mu.Lock()
			m.pending = append(slices.Clone(waiting[i:]), m.pending...)
			m.mu.Unlock()
			return
		}
	}
}

// add adds to the record of a minute, in place of the same minute of another day.
func (m *Minutes) add(ctx context.Context, minute sluice.Minute) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	key := strconv.FormatInt(minute.Time.Unix()/60%minutesKept, 10)
	_, err := m.store.Change(ctx, key, func(before *sluice.Minute, _ map[string]*sluice.Minute) (*sluice.Minute, error) {
		sum := minute
		if before != nil && before.Time.Equal(minute.Time) {
			sum = *before
			addTo(&sum, &minute)
		}
		return &sum, nil
	})
	return err
}

// Last returns the last minutes in order, the present one included, at most a
// day: with quantiles, without the counts they are computed from.
func (m *Minutes) Last(count int) []sluice.Minute {
	minutes := make([]sluice.Minute, min(count, minutesKept))
	first := time.Now().UTC().Truncate(time.Minute).Add(-time.Duration(len(minutes)-1) * time.Minute)
	for i := range minutes {
		minutes[i].Time = first.Add(time.Duration(i) * time.Minute)
	}
	add := func(minute *sluice.Minute) {
		if i := int(minute.Time.Sub(first) / time.Minute); !minute.Time.Before(first) && i < len(minutes) {
			addTo(&minutes[i], minute)
		}
	}
	for _, stored := range m.store.All() {
		add(stored)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.pending {
		add(&m.pending[i])
	}
	add(&m.current)
	for i := range minutes {
		latencies := minutes[i].Latencies
		minutes[i].P50, minutes[i].P99, minutes[i].Latencies = quantile(latencies, 0.5), quantile(latencies, 0.99), nil
	}
	return minutes
}

// trimmed returns counts without the zeros at their end.
func trimmed(counts []int) []int {
	end := len(counts)
	for end > 0 && counts[end-1] == 0 {
		end--
	}
	return counts[:end]
}
