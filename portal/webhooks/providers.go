package webhooks

import (
	"slices"

	"sluice"
	"sluice/portal/page"
)

// providers returns the known senders, none if the user may not list them.
func providers(v *page.Visit) []sluice.ProviderView {
	return page.AskIfAllowed[[]sluice.ProviderView](v, "provider.get")
}

// senderOf returns the known sender of a webhook, or otherwise.
func senderOf(hook sluice.WebhookView, known []sluice.ProviderView, otherwise sluice.ProviderView) sluice.ProviderView {
	at := slices.IndexFunc(known, func(s sluice.ProviderView) bool { return s.Provider == hook.Provider })
	if at < 0 {
		return otherwise
	}
	return known[at]
}
