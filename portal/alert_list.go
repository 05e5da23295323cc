package portal

import (
	"net/http"
	"net/url"

	"sluice"
)

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
	if _, err := p.run(r, "alert.mute", args("id", r.PathValue("id"), "for", r.PostForm.Get("for"))); err != nil {
		return err
	}
	p.redirect(w, r, "/alerts?done=muted")
	return nil
}
