package webhooks

import (
	"net/url"

	"sluice"
	"sluice/command"
	"sluice/portal/chart"
	"sluice/portal/page"
)

// webhookNamed returns the webhook that the path names.
func webhookNamed(v *page.Visit) (sluice.WebhookView, error) {
	return page.Ask[sluice.WebhookView](v, "webhook.get", "eventKey", v.Named("key"))
}

type webhooksView struct {
	Search string
	Items  []webhookRow
	Next   string // path of the next page
}

// A webhookRow is a webhook in the list, with the figures of a day.
type webhookRow struct {
	sluice.WebhookView
	sluice.WebhookFigures

	Sender    string // title
	Line      chart.Sparkline
	Listeners []string // pipelines
}

func webhooksPage(v *page.Visit) error {
	search := v.Query("search")
	found, err := page.Ask[command.Page[sluice.WebhookView]](v, "webhook.get",
		"search", search, "after", v.Query("after"), "limit", page.Size)
	if err != nil {
		return err
	}
	view := webhooksView{Search: search, Next: v.Next(found.Next)}
	figures, err := figuresOf(v)
	if err != nil {
		return err
	}
	listening, err := listening(v)
	if err != nil {
		return err
	}
	senders, err := providers(v)
	if err != nil {
		return err
	}
	for _, hook := range found.Items {
		of := figures[hook.EventKey]
		row := webhookRow{
			WebhookView: hook, WebhookFigures: sluice.WebhookFigures{CallFigures: of.CallFigures, Last: of.Last},
			Sender: senderOf(hook, senders, sluice.ProviderView{Title: hook.Provider}).Title,
		}
		if of.Hours != nil {
			row.Line = chart.NewSparkline(of.Hours)
		}
		row.Listeners = listenersOf(hook.EventKey, listening)
		view.Items = append(view.Items, row)
	}
	return v.Show("webhooks", "Webhooks", view)
}

// figuresOf returns the figures of a day by event key.
func figuresOf(v *page.Visit) (map[string]sluice.WebhookStats, error) {
	found, err := page.AskIfAllowed[[]sluice.WebhookStats](v, "webhook.stats", "limit", "1000")
	figures := make(map[string]sluice.WebhookStats, len(found))
	for _, of := range found {
		figures[of.EventKey] = of
	}
	return figures, err
}

// webhookPath returns the path of the page of a webhook.
func webhookPath(key string) string { return "/webhooks/" + url.PathEscape(key) }
