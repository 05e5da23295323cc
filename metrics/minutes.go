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
	maxPending   = 60  // minutes kept while the engine stores nothing
	maxWebhooks  = 500 // webhooks that an hour counts one by one
	storeTimeout = 5 * time.Second
)

// Minutes counts calls and runs by the minute for the last day, and by the hour for the last
// 30 days. Every node adds its counts once a minute.
type Minutes struct {
	minutes, hours *series
	log            *slog.Logger

	mu      sync.Mutex
	current sluice.Minute
}

// NewMinutes returns the counts in two stores. Nothing is stored until Keep runs.
func NewMinutes(minutes, hours sluice.Records[sluice.Minute], log *slog.Logger) *Minutes {
	return &Minutes{
		minutes: &series{store: minutes, period: time.Minute, kept: minutesKept},
		hours:   &series{store: hours, period: time.Hour, kept: hoursKept},
		log:     log,
	}
}

// Call counts a call of a webhook.
func (m *Minutes) Call(c sluice.Call) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.roll(time.Now())
	if c.Status == sluice.StatusHandshake {
		return
	}
	key := m.counted(c.EventKey)
	of := m.current.Webhooks[key]
	switch {
	case c.CorrelationID != "":
		m.current.Accepted++
		of.Accepted++
		m.current.Latencies[latencyBound(c.Duration-c.Waited)]++
	case c.StatusCode >= http.StatusInternalServerError:
		m.current.Unavailable++
		of.Rejected++
	default:
		m.current.Rejected++
		of.Rejected++
	}
	of.Last = c.Time
	m.current.Webhooks[key] = of
}

// CallFailed counts an accepted call that a pipeline failed on for good.
func (m *Minutes) CallFailed(eventKey string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.roll(time.Now())
	m.current.Errors++
	key := m.counted(eventKey)
	of := m.current.Webhooks[key]
	of.Errors++
	m.current.Webhooks[key] = of
}

// counted returns the key under which a webhook is counted in this minute. Webhooks beyond
// the limit share the empty key with unknown ones.
func (m *Minutes) counted(eventKey string) string {
	if _, known := m.current.Webhooks[eventKey]; !known && len(m.current.Webhooks) >= maxWebhooks {
		return ""
	}
	return eventKey
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

// roll starts a new minute if it is due.
func (m *Minutes) roll(now time.Time) {
	start := now.UTC().Truncate(time.Minute)
	if start.Equal(m.current.Time) {
		return
	}
	m.setAside()
	m.current = sluice.Minute{Time: start, Latencies: make([]int, len(latencyBounds)), Webhooks: make(map[string]sluice.WebhookFigures)}
}

// setAside queues the counts of the minute for storing.
func (m *Minutes) setAside() {
	c := &m.current
	if c.Accepted+c.Rejected+c.Unavailable+c.Errors+c.Runs > 0 {
		c.Latencies = trimmed(c.Latencies)
		m.hours.wait(*c)
		c.Webhooks = nil
		m.minutes.wait(*c)
	}
	m.current = sluice.Minute{}
}

// Keep stores each minute when it is over. When ctx ends, it stores the rest.
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

// flush stores the queued counts. Those that fail stay queued.
func (m *Minutes) flush(ctx context.Context) {
	for _, s := range []*series{m.minutes, m.hours} {
		if err := s.flush(ctx); err != nil {
			m.log.Warn("The counts of a minute could not be stored.", "error", err)
		}
	}
}

// Last returns the last minutes in order, with the current one, at most a day. They have
// quantiles instead of latencies.
func (m *Minutes) Last(count int) []sluice.Minute { return withQuantiles(m.last(m.minutes, count)) }

// LastHours returns the last hours likewise, at most 30 days.
func (m *Minutes) LastHours(count int) []sluice.Minute {
	hours := withQuantiles(m.last(m.hours, count))
	for i := range hours {
		hours[i].Webhooks = nil
	}
	return hours
}

// Webhooks returns the figures of webhooks over the last hours, those with most calls first.
// In an hour with too many webhooks, only the first called have their own figures.
func (m *Minutes) Webhooks(count int) []sluice.WebhookStats {
	hours := m.last(m.hours, count)
	found := make(map[string]*sluice.WebhookStats)
	for i, hour := range hours {
		for key, figures := range hour.Webhooks {
			if key == "" {
				continue
			}
			of := found[key]
			if of == nil {
				of = &sluice.WebhookStats{EventKey: key, Hours: make([]int, len(hours))}
				found[key] = of
			}
			addFigures(&of.WebhookFigures, figures)
			of.Hours[i] += figures.Accepted + figures.Rejected
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

// last returns the last sums of a series, with counts that are not stored yet.
func (m *Minutes) last(s *series, count int) []sluice.Minute {
	m.mu.Lock()
	defer m.mu.Unlock()
	return s.last(count, &m.current)
}

func withQuantiles(sums []sluice.Minute) []sluice.Minute {
	for i := range sums {
		latencies := sums[i].Latencies
		sums[i].P50, sums[i].P99, sums[i].Latencies = quantile(latencies, 0.5), quantile(latencies, 0.99), nil
	}
	return sums
}
