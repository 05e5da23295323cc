package metrics

import (
	_ "embed"
	"reflect"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sluice"
)

// gaugesTable has a line for each figure: the struct and the field of package sluice that it is
// in, its name, and what it says.
//
//go:embed gauges.txt
var gaugesTable string

// A figure is a metric that shows a field. Those named _total only grow.
type figure struct {
	of, field string
	name      string
	desc      *prometheus.Desc
}

var figures = func() (all []figure) {
	for line := range strings.Lines(gaugesTable) {
		words := strings.SplitN(strings.TrimSpace(line), " ", 3)
		of, field, _ := strings.Cut(words[0], ".")
		var labels []string
		switch of {
		case "PipelineStats":
			labels = []string{"pipeline"}
		case "WorkQueue":
			labels = []string{"queue"}
		}
		all = append(all, figure{of, field, words[1], prometheus.NewDesc(words[1], words[2], labels, nil)})
	}
	return all
}()

var (
	unwell = prometheus.NewDesc("sluice_replicas_unwell",
		"Replicas of streams on an external engine that have been offline or behind for half a minute.",
		[]string{"state"}, nil)
	alerts = prometheus.NewDesc("sluice_alerts",
		"1 for each open alert, muted or not; its subject is a pipeline, the event key of a webhook, or a server.",
		[]string{"kind", "subject"}, nil)
)

// gauges collects the state of the server.
type gauges struct{ state func() sluice.ServerStats }

// Describe implements prometheus.Collector.
func (g *gauges) Describe(ch chan<- *prometheus.Desc) {
	ch <- unwell
	ch <- alerts
	for _, f := range figures {
		ch <- f.desc
	}
}

// Collect implements prometheus.Collector.
func (g *gauges) Collect(ch chan<- prometheus.Metric) {
	s := g.state()
	if s.FreeDisk < 0 {
		s.FreeFiles = -1
	}
	collect(ch, s)
	for _, p := range s.Pipelines {
		collect(ch, p, p.Pipeline)
	}
	for _, q := range s.Work {
		collect(ch, q, q.Queue)
	}
	if s.Spool != nil {
		collect(ch, *s.Spool)
	}
	gauge := func(d *prometheus.Desc, value int64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(value), labels...)
	}
	gauge(unwell, s.Offline, "offline")
	gauge(unwell, s.Behind, "behind")
	for _, a := range s.Alerts {
		gauge(alerts, 1, string(a.Kind), a.Subject)
	}
}

// collect sends the figures that are fields of a struct. A negative one is not known.
func collect(ch chan<- prometheus.Metric, stats any, labels ...string) {
	fields := reflect.ValueOf(stats)
	for _, f := range figures {
		if f.of != fields.Type().Name() {
			continue
		}
		kind := prometheus.GaugeValue
		if strings.HasSuffix(f.name, "_total") {
			kind = prometheus.CounterValue
		}
		if value := f.value(fields.FieldByName(f.field).Interface()); value >= 0 {
			ch <- prometheus.MustNewConstMetric(f.desc, kind, value, labels...)
		}
	}
}

// value returns what a figure shows of a field: for a time its age, or that there is one.
func (f figure) value(field any) float64 {
	switch v := field.(type) {
	case int:
		return float64(v)
	case int64:
		return float64(v)
	case time.Duration:
		return v.Seconds()
	case bool:
		if v {
			return 1
		}
	case *time.Time:
		switch {
		case v == nil:
		case strings.HasSuffix(f.name, "_seconds"):
			return max(0, time.Since(*v).Seconds())
		default:
			return 1
		}
	}
	return 0
}
