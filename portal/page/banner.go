package page

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"sluice"
)

// An Alert is shown above the title of a page.
type Alert struct {
	Bad   bool // a failure; otherwise a warning
	Text  string
	Since *time.Time // shown after the text; nil if it has no time
	Link  string     // path of a page about it; "" if there is none
}

// A board caches alerts for a moment, and how many things wait on pages, by their paths.
type board struct {
	mu     sync.Mutex
	found  []Alert
	counts map[string]int
	at     time.Time
}

// How long alerts are cached, since every page shows them. They expire sooner if there
// are any: a page that reloads after a good run must not say that the pipeline fails.
const (
	allWellFresh = 5 * time.Second
	alertsFresh  = 300 * time.Millisecond
)

const (
	maxWarnings = 3 // that are shown
	maxNamed    = 3 // pipelines that are named
)

// alerts returns the alerts for users who may see the server's state, and how many things wait
// on pages. What leads to a page is shown on the overview only: elsewhere the menu counts it.
func (v *Visit) alerts() (found []Alert, counts map[string]int) {
	if !v.May("server.stats") {
		open := Glance[sluice.List[sluice.Alert]](v, "alert.get", "open", true)
		return nil, map[string]int{"/alerts": len(open.Items)}
	}
	all, counts := v.allAlerts()
	for _, a := range all {
		if a.Link == "" || v.R.URL.Path == "/" {
			found = append(found, a)
		}
	}
	return found, counts
}

// allAlerts returns the alerts and counts, perhaps cached.
func (v *Visit) allAlerts() ([]Alert, map[string]int) {
	v.board.mu.Lock()
	defer v.board.mu.Unlock()
	fresh := allWellFresh
	if len(v.board.found) > 0 {
		fresh = alertsFresh
	}
	if time.Since(v.board.at) < fresh {
		return v.board.found, v.board.counts
	}
	stats, err := Try[sluice.ServerStats](v, "server.stats", "minutes", "1")
	if err != nil {
		stats = sluice.ServerStats{Problem: sluice.AsError(err).Message}
	}
	v.board.found, v.board.at = alertsOf(stats), time.Now()
	v.board.counts = map[string]int{"/alerts": len(stats.Alerts), "/deadletters": int(stats.DeadLetters)}
	rejected := Glance[sluice.List[sluice.QuarantineView]](v, "quarantine.get", "brief", true, "limit", "100")
	v.board.counts["/quarantine"] = len(rejected.Items)
	return v.board.found, v.board.counts
}

// alertsOf returns the alerts about a server's state, the worst first.
func alertsOf(stats sluice.ServerStats) (all []Alert) {
	if !stats.Ready {
		all = append(all, Alert{Bad: true, Text: "Calls can’t be accepted at the moment: " + stats.Problem})
	}
	all = append(all, failing(stats.Pipelines)...)
	for _, warning := range stats.Warnings[:min(len(stats.Warnings), maxWarnings)] {
		all = append(all, Alert{Text: sentence(warning)})
	}
	waiting := 0
	for _, p := range stats.Pipelines {
		if p.Failing == nil {
			waiting += int(p.Retrying)
		}
	}
	if waiting > 0 {
		all = append(all, Alert{
			Text: Plural(waiting, "event waits", "events wait") + " for another attempt.",
			Link: "/calls?status=retrying&sent=yes",
		})
	}
	return all
}

// failing returns the alert about the pipelines that fail, those first that began last.
func failing(pipelines []sluice.PipelineStats) []Alert {
	failing := slices.DeleteFunc(slices.Clone(pipelines), func(p sluice.PipelineStats) bool { return p.Failing == nil })
	slices.SortFunc(failing, func(a, b sluice.PipelineStats) int {
		return cmp.Or(b.Failing.Compare(*a.Failing), cmp.Compare(a.Pipeline, b.Pipeline))
	})
	switch len(failing) {
	case 0:
		return nil
	case 1:
		one := failing[0]
		return []Alert{{
			Bad: true, Text: "The pipeline " + one.Pipeline + " has been failing", Since: one.Failing,
			Link: "/pipelines/" + url.PathEscape(one.Pipeline) + "#failure",
		}}
	}
	var names []string
	for _, p := range failing[:min(len(failing), maxNamed)] {
		names = append(names, p.Pipeline)
	}
	text := strconv.Itoa(len(failing)) + " pipelines are failing: " + strings.Join(names, ", ")
	if len(failing) > maxNamed {
		text += ", …"
	}
	return []Alert{{Bad: true, Text: text, Link: "/pipelines"}}
}

// sentence makes a sentence of a warning that was written for a log.
func sentence(warning string) string {
	first, size := utf8.DecodeRuneInString(warning)
	return string(unicode.ToUpper(first)) + warning[size:] + "."
}
