package closed

import (
	"cmp"
	"slices"
	"time"

	"sluice"
)

const (
	week    = 7 * 24 * time.Hour
	weeks   = 4
	history = 30 * 24 // hours: as many as there are
)

// webhooks returns the webhooks that may have missed calls, those whose senders don't try
// again first.
func (l *Ledger) webhooks(c sluice.Closing) []sluice.ClosedWebhook {
	hours := make(map[time.Time]sluice.Minute)
	for _, hour := range l.Hours(history) {
		hours[hour.Time] = hour
	}
	found := make(map[string]*sluice.ClosedWebhook)
	note := func(hour time.Time) map[string]sluice.WebhookFigures {
		for key := range hours[hour].Webhooks {
			if retries := l.Retries(key); found[key] == nil && retries != "" {
				found[key] = &sluice.ClosedWebhook{EventKey: key, Retries: retries}
			}
		}
		return hours[hour].Webhooks
	}
	first := c.From.Truncate(time.Hour)
	note(first)
	note(c.From.Add(-time.Hour).Truncate(time.Hour))
	sums, counted := make(map[string]int), make(map[string]int)
	for hour := first; hour.Before(c.To) && hour.Sub(first) < week; hour = hour.Add(time.Hour) {
		for back := 1; back <= weeks; back++ {
			for key, figures := range note(hour.Add(-time.Duration(back) * week)) {
				sums[key] += figures.Accepted + figures.Rejected
				counted[key]++
			}
		}
	}
	all := make([]sluice.ClosedWebhook, 0, len(found))
	for key, w := range found {
		if n := counted[key]; n > 0 {
			w.Usual = (sums[key] + n - 1) / n
		}
		all = append(all, *w)
	}
	slices.SortFunc(all, func(a, b sluice.ClosedWebhook) int {
		return cmp.Or(cmp.Compare(tries(a), tries(b)), cmp.Compare(b.Usual, a.Usual),
			cmp.Compare(a.EventKey, b.EventKey))
	})
	return all
}

// tries orders senders: first those that never try again, then those of whom nobody knows
// it, then the rest.
func tries(w sluice.ClosedWebhook) int {
	switch w.Retries {
	case "none":
		return 0
	case "unknown":
		return 1
	}
	return 2
}
