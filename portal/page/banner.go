package page

import (
	"net/url"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"sluice"
)

// An Alert is shown on every page.
type Alert struct {
	Bad   bool // a failure; otherwise a warning
	Text  string
	Since *time.Time // shown after the text; nil if it has no time
	Link  string     // path of a page about it; "" if there is none
}

// A board caches alerts for a moment.
type board struct {
	mu    sync.Mutex
	found []Alert
	at    time.Time
}

// How long alerts are cached, since every page shows them. They expire sooner if there
// are any: a page that reloads after a good run must not say that the pipeline fails.
const (
	allWellFresh = 5 * time.Second
	alertsFresh  = 300 * time.Millisecond
)

// maxAlerts bounds the warnings, and the failing pipelines, that are shown.
const maxAlerts = 3

// alerts returns the alerts for users who may see the server's state. A page does not
// show those that lead to it.
func (v *Visit) alerts() (found []Alert) {
	if !v.May("server.stats") {
		return nil
	}
	for _, a := range v.allAlerts() {
		if to, err := url.Parse(a.Link); err != nil || a.Link == "" || to.Path != v.R.URL.Path {
			found = append(found, a)
		}
	}
	return found
}

// allAlerts returns the alerts, perhaps cached.
func (v *Visit) allAlerts() []Alert {
	v.board.mu.Lock()
	defer v.board.mu.Unlock()
	fresh := allWellFresh
	if len(v.board.found) > 0 {
		fresh = alertsFresh
	}
	if time.Since(v.board.at) < fresh {
		return v.board.found
	}
	stats, err := Ask[sluice.ServerStats](v, "server.stats", "minutes", "1")
	if err != nil {
		stats = sluice.ServerStats{Problem: sluice.AsError(err).Message}
	}
	v.board.found, v.board.at = alertsOf(stats), time.Now()
	return v.board.found
}

// alertsOf returns the alerts about a server's state.
func alertsOf(stats sluice.ServerStats) (all []Alert) {
	if !stats.Ready {
		all = append(all, Alert{Bad: true, Text: "Calls can’t be accepted at the moment: " + stats.Problem})
	}
	for _, warning := range stats.Warnings[:min(len(stats.Warnings), maxAlerts)] {
		all = append(all, Alert{Text: sentence(warning)})
	}
	if more := len(stats.Warnings) - maxAlerts; more > 0 {
		all = append(all, Alert{Text: Plural(more, "more warning is", "more warnings are") + " at /readyz."})
	}
	failing := 0
	for _, p := range stats.Pipelines {
		if p.Failing == nil && p.Retrying > 0 {
			all = append(all, Alert{
				Text: Plural(int(p.Retrying), "event waits", "events wait") + " for another attempt of the pipeline " +
					p.Pipeline + ".",
				Link: "/calls?" + url.Values{
					"pipeline": {p.Pipeline}, "status": {string(sluice.StatusRetrying)},
				}.Encode(),
			})
		}
		if p.Failing == nil {
			continue
		}
		if failing++; failing <= maxAlerts {
			all = append(all, Alert{
				Bad: true, Text: "The pipeline " + p.Pipeline + " has been failing", Since: p.Failing,
				Link: "/pipelines/" + url.PathEscape(p.Pipeline) + "#failure",
			})
		}
	}
	if failing > maxAlerts {
		all = append(all, Alert{
			Bad: true, Text: Plural(failing-maxAlerts, "more pipeline is", "more pipelines are") + " failing.",
			Link: "/pipelines",
		})
	}
	return all
}

// sentence makes a sentence of a warning that was written for a log.
func sentence(warning string) string {
	first, size := utf8.DecodeRuneInString(warning)
	return string(unicode.ToUpper(first)) + warning[size:] + "."
}
