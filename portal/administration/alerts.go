package administration

import (
	"net/url"

	"sluice"
	"sluice/portal/page"
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

func alertsPage(v *page.Visit) error {
	found, err := page.Ask[sluice.List[sluice.Alert]](v, "alert.get", "limit", page.Size)
	if err != nil {
		return err
	}
	var view alertList
	for _, a := range found.Items {
		item := alertItem{a, aboutAlert(v, a)}
		if a.Open() {
			view.Open = append(view.Open, item)
		} else {
			view.Over = append(view.Over, item)
		}
	}
	return v.Show("alerts", "Alerts", view)
}

// aboutAlert returns the page where people see why, and do something about it.
func aboutAlert(v *page.Visit, a sluice.Alert) string {
	subject := url.QueryEscape(a.Subject)
	for kind, at := range map[sluice.AlertKind]struct{ command, path string }{
		sluice.AlertPipelineFailing: {"pipeline.get", "/pipelines/" + url.PathEscape(a.Subject)},
		sluice.AlertBacklog:         {"pipeline.get", "/pipelines/" + url.PathEscape(a.Subject)},
		sluice.AlertDeadLetters:     {"deadletter.get", "/deadletters?pipeline=" + subject},
		sluice.AlertSilence:         {"webhook.get", "/webhooks/" + url.PathEscape(a.Subject)},
		sluice.AlertSubscription:    {"webhook.get", "/webhooks/" + url.PathEscape(a.Subject)},
		sluice.AlertQuarantine:      {"quarantine.get", "/quarantine?eventKey=" + subject},
	} {
		if kind == a.Kind && a.Open() && v.May(at.command) {
			return at.path
		}
	}
	return ""
}

func alertMute(v *page.Visit) error {
	return v.RunThen("/alerts?done=muted", "alert.mute", "id", v.Named("id"), "for", v.Entered("for"))
}
