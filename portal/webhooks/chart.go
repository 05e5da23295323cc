package webhooks

import (
	"net/url"
	"time"

	"sluice"
	"sluice/portal/chart"
	"sluice/portal/page"
)

// webhookChart shows the calls of a webhook by the hour. It returns nil if there are none.
func webhookChart(v *page.Visit, key string) *chart.Chart {
	c := chart.New(v.R.URL.Query(), v.Base+webhookPath(key))
	found := page.Ask[[]sluice.WebhookStats](v, "webhook.stats", "eventKey", key, "hours", c.Hours())
	if len(found) == 0 {
		return nil
	}
	sums := c.Span.Cut(chart.Hourly(found[0].Figures))
	c.Plot = chart.Calls(sums, c.Span)
	c.Plot.MarkGaps(Closings(v, sums[0].Time), sums, c.Span)
	if v.May("trace.get") {
		c.Plot.Link(v.Base + "/calls?eventKey=" + url.QueryEscape(key) + "&")
	}
	return c
}

// Closings returns when no calls were taken since a time.
func Closings(v *page.Visit, from time.Time) []sluice.Closing {
	return page.AskIfAllowed[sluice.List[sluice.Closing]](v, "server.closed", "from", from.UTC().Format(time.RFC3339)).
		Items
}
