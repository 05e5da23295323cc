package webhooks

import (
	"sluice"
	"sluice/command"
	"sluice/portal/page"
)

// providers returns the known senders, none if the user may not list them.
func providers(v *page.Visit) ([]sluice.ProviderView, error) {
	senders, err := page.AskIfAllowed[command.Page[sluice.ProviderView]](v, "provider.get")
	return senders.Items, err
}
