// Package metrics counts what happens, for Prometheus. Other packages report to its functions;
// it asks the engine for state, such as lengths of queues, when it is read. Labels are
// bounded: no tokens, no trace ids.
package metrics

import (
	"cmp"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
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
	callSize  prometheus.Histogram
	callTime  prometheus.Histogram
	batchSize *prometheus.HistogramVec
	syncTime  *prometheus.HistogramVec
	runs      *prometheus.CounterVec
	runTime   prometheus.Histogram
	polls     *prometheus.CounterVec
	tokens    *prometheus.CounterVec
	logins    *prometheus.CounterVec

	webhooks *webhookCalls

	mu   sync.Mutex
	keys map[string]bool // event keys that have a label of their own
}

// maxKeys bounds how many webhooks have their own count of rejected calls by code.
const maxKeys = 200

// New returns metrics. They call state whenever they are read.
func New(version string, state func() sluice.ServerStats) *Metrics {
	m := &Metrics{
		registry:  prometheus.NewRegistry(),
		calls:     counters("sluice_calls_total", "Calls of webhooks, by the status they were answered with.", "status"),
		rejected:  counters("sluice_rejected_calls_total", "Refused calls of known webhooks, by event key and code; those beyond 200 event keys count as other.", "event_key", "code"),
		repeated:  prometheus.NewCounter(prometheus.CounterOpts{Name: "sluice_duplicate_calls_total", Help: "Calls whose delivery was accepted before."}),
		webhooks:  &webhookCalls{by: make(map[string]*webhookCounts)},
		keys:      make(map[string]bool),
		callSize:  histogram("sluice_call_bytes", "Sizes of the bodies of calls.", prometheus.ExponentialBuckets(64, 4, 9)),
		callTime:  histogram("sluice_accept_seconds", "Time from the arrival of an accepted call to its answer, pipelines that were waited for included.", latencies),
		batchSize: histograms("sluice_sync_batch_messages", "Messages that shared one sync.", prometheus.ExponentialBuckets(1, 2, 11), "stream"),
		syncTime:  histograms("sluice_sync_seconds", "Time to write and sync a batch.", latencies, "stream"),
		runs:      counters("sluice_runs_total", "Runs of pipelines, by how they ended.", "pipeline", "outcome"),
		runTime:   histogram("sluice_run_seconds", "Time that runs of pipelines took.", latencies),
		polls:     counters("sluice_polls_total", "Polls for results, by the status they were answered with.", "status"),
		tokens:    counters("sluice_token_requests_total", "Requests for tokens, by grant and outcome.", "grant", "outcome"),
		logins:    counters("sluice_logins_total", "Authentications by header, by scheme and outcome.", "scheme", "outcome"),
	}
	info := prometheus.NewGauge(prometheus.GaugeOpts{Name: "sluice_info", Help: "1; its labels tell about the server.", ConstLabels: prometheus.Labels{"version": version}})
	info.Set(1)
	m.registry.MustRegister(info, m.calls, m.webhooks, m.rejected, m.repeated, m.callSize, m.callTime, m.batchSize, m.syncTime, m.runs, m.runTime, m.polls, m.tokens, m.logins,
		&gauges{state}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.accepted = m.calls.WithLabelValues("200")
	return m
}

// latencies are the buckets of histograms of times, in seconds.
var latencies = []float64{.0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60, 300}

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func histogram(name, help string, buckets []float64) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
}

func histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}

// Handler serves the metrics in the format of Prometheus.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry, MaxRequestsInFlight: 4, Timeout: 10 * time.Second})
}

// Call counts a call of a webhook.
func (m *Metrics) Call(c sluice.Call) {
	if c.StatusCode == http.StatusOK {
		m.accepted.Inc()
	} else {
		m.calls.WithLabelValues(strconv.Itoa(c.StatusCode)).Inc()
	}
	if c.Status == sluice.StatusRejected && c.EventKey != "" {
		m.rejected.WithLabelValues(m.label(c.EventKey), c.Code).Inc()
		m.webhooks.ended(c.EventKey, c.Status)
	}
	if c.Duplicate {
		m.repeated.Inc()
	}
	m.callSize.Observe(float64(c.Size))
	if c.CorrelationID != "" {
		m.callTime.Observe(c.Duration / 1000)
		m.webhooks.came(c.EventKey, c.Time)
	}
}

// CallEnded counts an accepted call when its state is final.
func (m *Metrics) CallEnded(eventKey string, status sluice.Status) {
	m.webhooks.ended(eventKey, status)
}

// label returns the label of an event key, and bounds how many there are.
func (m *Metrics) label(key string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.keys[key] && len(m.keys) >= maxKeys {
		return "other"
	}
	m.keys[key] = true
	return key
}

// Batch returns a function that counts the batches of a stream.
func (m *Metrics) Batch(stream string) func(messages int, took time.Duration) {
	size, sync := m.batchSize.WithLabelValues(stream), m.syncTime.WithLabelValues(stream)
	return func(messages int, took time.Duration) {
		size.Observe(float64(messages))
		sync.Observe(took.Seconds())
	}
}

// Run counts a run of a pipeline. Pipelines that are not stored share one label.
func (m *Metrics) Run(r sluice.RunReport) {
	name := cmp.Or(r.Pipeline, "(ad hoc)")
	m.runs.WithLabelValues(name, string(r.Status)).Inc()
	m.runTime.Observe(r.Duration / 1000)
}

// Poll counts a poll for a result.
func (m *Metrics) Poll(status int) { m.polls.WithLabelValues(strconv.Itoa(status)).Inc() }

// TokenRequest counts a request for tokens.
func (m *Metrics) TokenRequest(grant, outcome string) { m.tokens.WithLabelValues(grant, outcome).Inc() }

// Login counts an authentication by header.
func (m *Metrics) Login(scheme, outcome string) { m.logins.WithLabelValues(scheme, outcome).Inc() }

func description(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

var (
	ready       = description("sluice_engine_ready", "1 if the engine takes writes.")
	freeDisk    = description("sluice_disk_free_bytes", "Free space on the volume of the data folder.")
	freeFiles   = description("sluice_disk_free_files", "Files (inodes) that the volume of the data folder can still take.")
	syncAge     = description("sluice_sync_oldest_seconds", "Age of the oldest batch that is not on stable storage yet; calls are refused from 3 seconds on.")
	events      = description("sluice_events", "Events that are stored.")
	eventBytes  = description("sluice_events_bytes", "Bytes of events that are stored.")
	deadLetters = description("sluice_dead_letters", "Events that a pipeline failed on for good.", "pipeline")
	results     = description("sluice_results", "Results of pipelines that are kept.")
	webhooks    = description("sluice_webhooks", "Webhooks there are.")
	recordBytes = description("sluice_records_bytes", "Bytes of what users have stored: webhooks, pipelines with their versions, users, roles, clients and secrets.")
	unstored    = description("sluice_records_refused_total", "Records that were refused with too-many-records.")
	lost        = description("sluice_events_lost", "Events that were stored and that the disk has lost, as far as that was found.")
	lostOthers  = description("sluice_messages_lost", "Stored messages other than events, such as results and changes of records, that the disk had lost at the start.")
	cutOff      = description("sluice_unfinished_writes", "Writes that a crash or a power cut has interrupted, and that the start has cut off: nobody was told that they are stored.")
	unwell      = description("sluice_replicas_unwell", "Replicas of streams on an external engine that have been offline or behind for half a minute.", "state")
	unreadable  = description("sluice_events_unreadable_total", "Events that pipelines could not read: programs that publish to the engine have sent them.")
	unrecorded  = description("sluice_journal_dropped_total", "Entries that the journal had no space for: how a call or a run went, never a call.")
	unkept      = description("sluice_quarantine_dropped_total", "Refused calls that the quarantine did not keep, or not for its 7 days: too many came, newer ones took their place, or the engine was away.")
	waiting     = description("sluice_events_waiting", "Events that a pipeline has not finished.", "pipeline")
	spooled     = description("sluice_spool_waiting", "Calls that wait in the spool of this node until the engine takes them.")
	spoolOldest = description("sluice_spool_oldest_seconds", "Age of the oldest call that waits in the spool.")
	spoolBytes  = description("sluice_spool_bytes", "Bytes of the spool that are in use.")
	failing     = description("sluice_pipeline_failing", "1 if the latest run of a pipeline failed.", "pipeline")
	retrying    = description("sluice_events_retrying", "Events that wait for another attempt of a pipeline.", "pipeline")
	alerts      = description("sluice_alerts", "1 for each open alert, muted or not; its subject is a pipeline, the event key of a webhook, or a server.", "kind", "subject")
	oldest      = description("sluice_events_oldest_seconds", "Age of the oldest event that a pipeline has not finished.", "pipeline")
)

// gauges collects the state of the server.
type gauges struct{ state func() sluice.ServerStats }

// Describe implements prometheus.Collector.
func (g *gauges) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{ready, syncAge, freeDisk, freeFiles, events, eventBytes, deadLetters, results, webhooks, recordBytes, unstored, lost, lostOthers, cutOff, unwell, unreadable, unrecorded, unkept, waiting, retrying, failing, oldest, alerts, spooled, spoolOldest, spoolBytes} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (g *gauges) Collect(ch chan<- prometheus.Metric) {
	s := g.state()
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	isReady := 0.0
	if s.Ready {
		isReady = 1
	}
	gauge(ready, isReady)
	gauge(syncAge, s.SyncAge.Seconds())
	if s.FreeDisk >= 0 {
		gauge(freeDisk, float64(s.FreeDisk))
		gauge(freeFiles, float64(s.FreeFiles))
	}
	gauge(events, float64(s.Events))
	gauge(eventBytes, float64(s.EventBytes))
	gauge(results, float64(s.Results))
	gauge(webhooks, float64(s.Webhooks))
	gauge(recordBytes, float64(s.RecordSize))
	gauge(lost, float64(s.Lost))
	gauge(lostOthers, float64(s.LostOthers))
	gauge(cutOff, float64(s.CutOff))
	gauge(unwell, float64(s.Offline), "offline")
	gauge(unwell, float64(s.Behind), "behind")
	ch <- prometheus.MustNewConstMetric(unreadable, prometheus.CounterValue, float64(s.Unreadable))
	ch <- prometheus.MustNewConstMetric(unrecorded, prometheus.CounterValue, float64(s.Unrecorded))
	ch <- prometheus.MustNewConstMetric(unstored, prometheus.CounterValue, float64(s.Unstored))
	ch <- prometheus.MustNewConstMetric(unkept, prometheus.CounterValue, float64(s.Unkept))
	for _, p := range s.Pipelines {
		gauge(waiting, float64(p.Waiting), p.Pipeline)
		gauge(retrying, float64(p.Retrying), p.Pipeline)
		gauge(deadLetters, float64(p.DeadLetters), p.Pipeline)
		fails := 0.0
		if p.Failing != nil {
			fails = 1
		}
		gauge(failing, fails, p.Pipeline)
		gauge(oldest, age(p.Oldest), p.Pipeline)
	}
	for _, a := range s.Alerts {
		gauge(alerts, 1, string(a.Kind), a.Subject)
	}
	if s.Spool != nil {
		gauge(spooled, float64(s.Spool.Waiting))
		gauge(spoolOldest, age(s.Spool.Oldest))
		gauge(spoolBytes, float64(s.Spool.Bytes))
	}
}

// age returns the seconds since a time, 0 for nil.
func age(at *time.Time) float64 {
	if at == nil {
		return 0
	}
	return max(0, time.Since(*at).Seconds())
}
