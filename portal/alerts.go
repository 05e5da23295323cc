package portal

import (
	"net/http"
	"net/url"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"sluice"
)

// An alert is something that people should see on whichever page they are.
type alert struct {
	Bad   bool // it is a failure, otherwise a warning
	Text  string
	Since *time.Time // ends the text, if it is about a time
	Link  string     // path of where to look; "" if there is nothing to see
}

// How long what was found is shown: asking costs, and pages come often. An alert is
// looked at again soon, so that a page that is refreshed because a run went well no
// longer shows that it failed.
const (
	allWellFresh = 5 * time.Second
	alertsFresh  = 300 * time.Millisecond
)

// maxAlerts bounds what is shown of each kind.
const maxAlerts = 3

// An alertBoard keeps what was found for a moment.
type alertBoard struct {
	mu    sync.Mutex
	found []alert
	at    time.Time
}

// alerts returns what is wrong, for users who may see the server's state. A page
// that is about it says so itself.
func (p *Portal) alerts(r *http.Request) (shown []alert) {
	if !p.may(sluice.UserFrom(r.Context()), "server.stats") {
		return nil
	}
	for _, a := range p.allAlerts(r) {
		if to, err := url.Parse(a.Link); err != nil || a.Link == "" || to.Path != r.URL.Path {
			shown = append(shown, a)
		}
	}
	return shown
}

// allAlerts returns what is wrong now, or was a moment ago.
func (p *Portal) allAlerts(r *http.Request) []alert {
	p.board.mu.Lock()
	defer p.board.mu.Unlock()
	fresh := allWellFresh
	if len(p.board.found) > 0 {
		fresh = alertsFresh
	}
	if time.Since(p.board.at) < fresh {
		return p.board.found
	}
	stats, err := ask[sluice.ServerStats](p, r, "server.stats", args("minutes", "1"))
	if err != nil {
		stats = sluice.ServerStats{Problem: sluice.AsError(err).Message}
	}
	p.board.found, p.board.at = alertsOf(stats), time.Now()
	return p.board.found
}

// alertsOf returns what a server's state has to say.
func alertsOf(stats sluice.ServerStats) (all []alert) {
	if !stats.Ready {
		all = append(all, alert{Bad: true, Text: "Calls can’t be accepted at the moment: " + stats.Problem})
	}
	for _, warning := range stats.Warnings[:min(len(stats.Warnings), maxAlerts)] {
		all = append(all, alert{Text: sentence(warning)})
	}
	if more := len(stats.Warnings) - maxAlerts; more > 0 {
		all = append(all, alert{Text: plural(more, "more warning is", "more warnings are") + " at /readyz."})
	}
	failing := 0
	for _, p := range stats.Pipelines {
		if p.Failing == nil {
			continue
		}
		if failing++; failing <= maxAlerts {
			all = append(all, alert{Bad: true, Text: "The pipeline " + p.Pipeline + " has been failing", Since: p.Failing, Link: "/pipelines/" + url.PathEscape(p.Pipeline) + "#failure"})
		}
	}
	if failing > maxAlerts {
		all = append(all, alert{Bad: true, Text: plural(failing-maxAlerts, "more pipeline is", "more pipelines are") + " failing.", Link: "/pipelines"})
	}
	return all
}

// sentence returns a warning of the server, which is written as for a log, as
// pages write them.
func sentence(warning string) string {
	first, size := utf8.DecodeRuneInString(warning)
	return string(unicode.ToUpper(first)) + warning[size:] + "."
}
