package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sluice"
)

func description(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// gauges collects the state of the server.
type gauges struct{ state func() sluice.ServerStats }

// Describe implements prometheus.Collector.
func (g *gauges) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		ready, syncAge, freeDisk, freeFiles, events, eventBytes, deadLetters, results, webhooks, recordBytes, unstored,
		lost, lostOthers, cutOff, unwell, unreadable, unrecorded, unkept, waiting, retrying, failing, oldest, alerts,
		spooled, spoolOldest, spoolBytes,
	} {
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

var (
	ready     = description("sluice_engine_ready", "1 if the engine takes writes.")
	freeDisk  = description("sluice_disk_free_bytes", "Free space on the volume of the data folder.")
	freeFiles = description("sluice_disk_free_files",
		"Files (inodes) that the volume of the data folder can still take.")
	syncAge = description("sluice_sync_oldest_seconds",
		"Age of the oldest batch that is not on stable storage yet; calls are refused from 3 seconds on.")
	events      = description("sluice_events", "Events that are stored.")
	eventBytes  = description("sluice_events_bytes", "Bytes of events that are stored.")
	deadLetters = description("sluice_dead_letters", "Events that a pipeline failed on for good.", "pipeline")
	results     = description("sluice_results", "Results of pipelines that are kept.")
	webhooks    = description("sluice_webhooks", "Webhooks there are.")
	recordBytes = description("sluice_records_bytes",
		"Bytes of what users have stored: webhooks, pipelines with their versions, users, roles, clients and secrets.")
	unstored = description("sluice_records_refused_total", "Records that were refused with too-many-records.")
	lost     = description("sluice_events_lost",
		"Events that were stored and that the disk has lost, as far as that was found.")
	lostOthers = description("sluice_messages_lost", "Stored messages other than events, such as results and "+
		"changes of records, that the disk had lost at the start.")
	cutOff = description("sluice_unfinished_writes", "Writes that a crash or a power cut has interrupted, and "+
		"that the start has cut off: nobody was told that they are stored.")
	unwell = description("sluice_replicas_unwell",
		"Replicas of streams on an external engine that have been offline or behind for half a minute.", "state")
	unreadable = description("sluice_events_unreadable_total",
		"Events that pipelines could not read: programs that publish to the engine have sent them.")
	unrecorded = description("sluice_journal_dropped_total",
		"Entries that the journal had no space for: how a call or a run went, never a call.")
	unkept = description("sluice_quarantine_dropped_total", "Refused calls that the quarantine did not keep, or "+
		"not for its 7 days: too many came, newer ones took their place, or the engine was away.")
	waiting = description("sluice_events_waiting", "Events that a pipeline has not finished.", "pipeline")
	spooled = description("sluice_spool_waiting",
		"Calls that wait in the spool of this node until the engine takes them.")
	spoolOldest = description("sluice_spool_oldest_seconds", "Age of the oldest call that waits in the spool.")
	spoolBytes  = description("sluice_spool_bytes", "Bytes of the spool that are in use.")
	failing     = description("sluice_pipeline_failing", "1 if the latest run of a pipeline failed.", "pipeline")
	retrying    = description("sluice_events_retrying", "Events that wait for another attempt of a pipeline.",
		"pipeline")
	alerts = description("sluice_alerts",
		"1 for each open alert, muted or not; its subject is a pipeline, the event key of a webhook, or a server.",
		"kind", "subject")
	oldest = description("sluice_events_oldest_seconds", "Age of the oldest event that a pipeline has not finished.",
		"pipeline")
)
