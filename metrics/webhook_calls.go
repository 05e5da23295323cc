package metrics

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sluice"
)

const (
	// maxWebhookLabels is how many webhooks, the busiest ones, have metrics of their own.
	maxWebhookLabels = 1000
	otherWebhooks    = "other" // the label that the others share
)

var (
	callEnds = prometheus.NewDesc("sluice_webhook_calls_total", "Calls of a webhook, by what became of them, once "+
		"that is final: ok, error or rejected. A failed call whose replay went well counts as recovered besides. "+
		"Webhooks beyond the 1,000 busiest count as other.", []string{"webhook", "status"}, nil)
	lastCall = prometheus.NewDesc("sluice_webhook_last_call_timestamp_seconds",
		"When the last accepted call of a webhook came.", []string{"webhook"}, nil)
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
		c = &webhookCounts{ends: map[sluice.Status]int{}}
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
	sum := webhookCounts{ends: map[sluice.Status]int{}}
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
