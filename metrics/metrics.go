// Package metrics counts what happens, for Prometheus. Other packages report to its functions;
// it asks the engine for state, such as lengths of queues, when it is read. Labels are
// bounded: no tokens, no trace ids.
package metrics

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"sluice"
)

// Metrics are the counts of one server.
type Metrics struct {
	registry *prometheus.Registry

	calls     *prometheus.CounterVec
	rejected  *prometheus.CounterVec
	repeated  prometheus.Counter
	accepted  prometheus.Counter // of calls, those answered 200
	callSize  prometheus.Observer
	callTime  prometheus.Observer
	batchSize *prometheus.HistogramVec
	syncTime  *prometheus.HistogramVec
	runs      *prometheus.CounterVec
	runTime   prometheus.Observer
	hops      *prometheus.CounterVec
	hopTime   *prometheus.HistogramVec
	polls     *prometheus.CounterVec
	tokens    *prometheus.CounterVec
	logins    *prometheus.CounterVec

	webhooks *webhookCalls

	keys, hosts labels
}

// maxLabels bounds how many webhooks have their own count of rejected calls by code, and how many
// hosts one of hops.
const maxLabels = 200

// labels are texts that have a label of their own.
type labels struct {
	mu    sync.Mutex
	known map[string]bool
}

// New returns metrics. They call state whenever they are read.
func New(version string, state func() sluice.ServerStats) *Metrics {
	registry := prometheus.NewRegistry()
	auto := promauto.With(registry)
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return auto.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	histograms := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return auto.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	}
	m := &Metrics{
		registry: registry,
		calls:    counters("sluice_calls_total", "Calls of webhooks, by the status they were answered with.", "status"),
		rejected: counters("sluice_rejected_calls_total",
			"Refused calls of known webhooks, by event key and code; those beyond 200 event keys count as other.",
			"webhook", "code"),
		repeated: counters("sluice_duplicate_calls_total", "Calls whose delivery was accepted before.").
			WithLabelValues(),
		webhooks: &webhookCalls{by: map[string]*webhookCounts{}},
		keys:     labels{known: map[string]bool{}},
		hosts:    labels{known: map[string]bool{}},
		callSize: histograms("sluice_call_bytes", "Sizes of the bodies of calls.",
			prometheus.ExponentialBuckets(64, 4, 9)).WithLabelValues(),
		callTime: histograms("sluice_accept_seconds",
			"Time from the arrival of an accepted call to its answer, pipelines that were waited for included.",
			latencies).WithLabelValues(),
		batchSize: histograms("sluice_sync_batch_messages", "Messages that shared one sync.",
			prometheus.ExponentialBuckets(1, 2, 11), "stream"),
		syncTime: histograms("sluice_sync_seconds", "Time to write and sync a batch.", latencies, "stream"),
		runs:     counters("sluice_runs_total", "Runs of pipelines, by how they ended.", "pipeline", "outcome"),
		runTime: histograms("sluice_run_seconds", "Time that runs of pipelines took.", latencies).
			WithLabelValues(),
		hops: counters("sluice_hops_total", "Calls of others by steps, by command, host as far as the source "+
			"names it, and status; without a reply that is none. Hosts beyond 200 count as other.",
			"command", "host", "status"),
		hopTime: histograms("sluice_hop_seconds", "Time that such calls took.", latencies, "command"),
		polls:   counters("sluice_polls_total", "Polls for results, by the status they were answered with.", "status"),
		tokens: counters("sluice_token_requests_total", "Requests for tokens, by grant and outcome.",
			"grant", "outcome"),
		logins: counters("sluice_logins_total", "Authentications by header, by scheme and outcome.",
			"scheme", "outcome"),
	}
	auto.NewGauge(prometheus.GaugeOpts{
		Name: "sluice_info", Help: "1; its labels tell about the server.",
		ConstLabels: prometheus.Labels{"version": version},
	}).Set(1)
	registry.MustRegister(m.webhooks, &gauges{state}, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.accepted = m.calls.WithLabelValues("200")
	return m
}

// latencies are the buckets of histograms of times, in seconds.
var latencies = []float64{.0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60, 300}

// Handler serves the metrics in the format of Prometheus.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		Registry: m.registry, MaxRequestsInFlight: 4, Timeout: 10 * time.Second,
	})
}

// Call counts a call of a webhook.
func (m *Metrics) Call(c sluice.Call) {
	if c.StatusCode == http.StatusOK {
		m.accepted.Inc()
	} else {
		m.calls.WithLabelValues(strconv.Itoa(c.StatusCode)).Inc()
	}
	if c.Duplicate {
		m.repeated.Inc()
	}
	if differs, ok := c.Rejected(); ok {
		m.reject(&differs)
	} else if c.Status == sluice.StatusRejected && c.EventKey != "" {
		m.reject(&c)
	}
	m.callSize.Observe(float64(c.Size))
	if c.CorrelationID != "" {
		m.callTime.Observe(c.Duration / 1000)
		m.webhooks.came(c.EventKey, c.Time)
	}
}

func (m *Metrics) reject(c *sluice.Call) {
	m.rejected.WithLabelValues(m.keys.label(c.EventKey), c.Code).Inc()
	m.webhooks.ended(c.EventKey, c.Status)
}

// CallEnded counts an accepted call when its state is final.
func (m *Metrics) CallEnded(eventKey string, status sluice.Status) {
	m.webhooks.ended(eventKey, status)
}

// label returns the label of a text, and bounds how many there are.
func (l *labels) label(text string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.known[text] && len(l.known) >= maxLabels {
		return "other"
	}
	l.known[text] = true
	return text
}

// Batch returns a function that counts the batches of a stream.
func (m *Metrics) Batch(stream string) func(messages int, took time.Duration) {
	size, sync := m.batchSize.WithLabelValues(stream), m.syncTime.WithLabelValues(stream)
	return func(messages int, took time.Duration) {
		size.Observe(float64(messages))
		sync.Observe(took.Seconds())
	}
}

// Run counts a run of a pipeline, and the calls of others by the steps in its report. Pipelines that are
// not stored share one label.
func (m *Metrics) Run(r sluice.RunReport) {
	name := cmp.Or(r.Pipeline, "(ad hoc)")
	m.runs.WithLabelValues(name, string(r.Status)).Inc()
	m.runTime.Observe(r.Duration / 1000)
	for _, s := range r.Steps {
		if s.HTTP == nil {
			continue
		}
		status := "none"
		if s.HTTP.StatusCode != 0 {
			status = strconv.Itoa(s.HTTP.StatusCode)
		}
		m.hops.WithLabelValues(s.Command, m.hosts.label(s.HTTP.Host), status).Inc()
		m.hopTime.WithLabelValues(s.Command).Observe(s.Duration / 1000)
	}
}

// Poll counts a poll for a result.
func (m *Metrics) Poll(status int) { m.polls.WithLabelValues(strconv.Itoa(status)).Inc() }

// TokenRequest counts a request for tokens.
func (m *Metrics) TokenRequest(grant, outcome string) { m.tokens.WithLabelValues(grant, outcome).Inc() }

// Login counts an authentication by header.
func (m *Metrics) Login(scheme, outcome string) { m.logins.WithLabelValues(scheme, outcome).Inc() }

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
