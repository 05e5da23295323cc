package administration

import (
	"strings"

	"sluice"
	"sluice/portal/page"
)

// An alertList is the page of alerts: those that are open, and those that are over.
type alertList struct {
	Open, Over []alertItem
}

// An alertItem is an alert with what people can do about it.
type alertItem struct {
	sluice.Alert

	Link, Do string
}

// Rest returns the message without the title that it begins with.
func (a alertItem) Rest() string { return strings.TrimPrefix(a.Message, a.Title+": ") }

func alertsPage(v *page.Visit) error {
	var view alertList
	for _, a := range page.Ask[sluice.List[sluice.Alert]](v, "alert.get", "limit", page.Size).Items {
		words := a.Kind.Words(a.Subject)
		item := alertItem{a, words.Page, words.DoBy(v.May)}
		if a.Open() {
			view.Open = append(view.Open, item)
		} else {
			view.Over = append(view.Over, item)
		}
	}
	return v.Show("alerts", "Alerts", view)
}

func alertMute(v *page.Visit) error {
	return v.RunThen("/alerts?done=muted", "alert.mute", "id", v.Named("id"), "for", v.Entered("for"))
}
