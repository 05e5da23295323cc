package portal

import (
	"net/http"
	"net/url"
	"time"
	"unicode"
	"unicode/utf8"

	"sluice"
)

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
func (p *Portal) alerts(r *http.Request) (shown []alert) {
	if !p.allows(r, "server.stats") {
		return nil
	}
	for _, a := range p.allAlerts(r) {
		if to, err := url.Parse(a.Link); err != nil || a.Link == "" || to.Path != r.URL.Path {
			shown = append(shown, a)
		}
	}
	return shown
}

// allAlerts returns the alerts, perhaps cached.
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

// alertsOf returns the alerts about a server's state.
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
		if p.Failing == nil && p.Retrying > 0 {
			all = append(all, alert{
				Text: plural(int(p.Retrying), "event waits", "events wait") + " for another attempt of the pipeline " + p.Pipeline + ".",
				Link: "/calls?" + url.Values{"pipeline": {p.Pipeline}, "status": {string(sluice.StatusRetrying)}}.Encode(),
			})
		}
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

// sentence makes a sentence of a warning that was written for a log.
func sentence(warning string) string {
	first, size := utf8.DecodeRuneInString(warning)
	return string(unicode.ToUpper(first)) + warning[size:] + "."
}

// An alertList is the page of alerts: those that are open, and those that are over.
type alertList struct {
	Open, Over []alertItem
}

// An alertItem is an alert with the page of what it is about.
type alertItem struct {
	sluice.Alert

	Link string // "" if it has none
}

// Critical reports whether calls are refused, or something is lost.
func (a alertItem) Critical() bool { return a.Severity == sluice.SeverityCritical }

func (p *Portal) alertPage(w http.ResponseWriter, r *http.Request) error {
	found, err := ask[sluice.List[sluice.Alert]](p, r, "alert.get", args("limit", pageSize))
	if err != nil {
		return err
	}
	var view alertList
	for _, a := range found.Items {
		item := alertItem{a, p.aboutAlert(r, a)}
		if a.Open() {
			view.Open = append(view.Open, item)
		} else {
			view.Over = append(view.Over, item)
		}
	}
	return p.render(w, r, http.StatusOK, "alerts", "Alerts", view)
}

// aboutAlert returns the page where people see why, and do something about it.
func (p *Portal) aboutAlert(r *http.Request, a sluice.Alert) string {
	subject := url.QueryEscape(a.Subject)
	for kind, at := range map[sluice.AlertKind]struct{ command, path string }{
		sluice.AlertPipelineFailing: {"pipeline.get", "/pipelines/" + url.PathEscape(a.Subject)},
		sluice.AlertBacklog:         {"pipeline.get", "/pipelines/" + url.PathEscape(a.Subject)},
		sluice.AlertDeadLetters:     {"deadletter.get", "/deadletters?pipeline=" + subject},
		sluice.AlertSilence:         {"webhook.get", "/webhooks/" + url.PathEscape(a.Subject)},
		sluice.AlertQuarantine:      {"quarantine.get", "/quarantine?eventKey=" + subject},
	} {
		if kind == a.Kind && a.Open() && p.allows(r, at.command) {
			return at.path
		}
	}
	return ""
}

func (p *Portal) alertMute(w http.ResponseWriter, r *http.Request) error {
	return p.runThen(w, r, "/alerts?done=muted", "alert.mute", args("id", r.PathValue("id"), "for", r.PostForm.Get("for")))
}
