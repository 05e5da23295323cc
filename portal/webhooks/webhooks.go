package webhooks

import (
	"net/url"

	"sluice"
	"sluice/command"
	"sluice/portal/page"
)

// webhookNamed returns the webhook that the path names.
func webhookNamed(v *page.Visit) sluice.WebhookView {
	return page.Ask[sluice.WebhookView](v, "webhook.get", "eventKey", v.Named("key"))
}

type webhooksView struct {
	Items []webhookRow
	Next  string // path of the next page
}

// A webhookRow is a webhook in the list, with the figures of a day.
type webhookRow struct {
	sluice.WebhookView

	Day       sluice.WebhookStats
	Sender    string   // title
	Listeners []string // pipelines
}

func webhooksPage(v *page.Visit) error {
	found := page.Ask[command.Page[sluice.WebhookView]](v, "webhook.get", v.Asked("search"))
	view := webhooksView{Next: v.Next(found.Next)}
	figures, listening, senders := figuresOf(v), listening(v), providers(v)
	for _, hook := range found.Items {
		view.Items = append(view.Items, webhookRow{
			WebhookView: hook, Day: figures[hook.EventKey], Listeners: listenersOf(hook.EventKey, listening),
			Sender: senderOf(hook, senders, sluice.ProviderView{Title: hook.Provider}).Title,
		})
	}
	return v.Show("webhooks", "Webhooks", view)
}

// figuresOf returns the figures of a day by event key.
func figuresOf(v *page.Visit) map[string]sluice.WebhookStats {
	figures := make(map[string]sluice.WebhookStats)
	for _, of := range page.AskIfAllowed[[]sluice.WebhookStats](v, "webhook.stats", "limit", "1000") {
		figures[of.EventKey] = of
	}
	return figures
}

// webhookPath returns the path of the page of a webhook.
func webhookPath(key string) string { return "/webhooks/" + url.PathEscape(key) }
