package webhooks

import (
	"net/url"
	"time"

	"sluice"
	"sluice/portal/chart"
	"sluice/portal/page"
)

// webhookChart shows the calls of a webhook by the hour. It returns nil if there are none.
func webhookChart(v *page.Visit, key string) (*chart.Chart, error) {
	c := chart.New(v.R.URL.Query(), v.Base+webhookPath(key))
	found, err := page.Ask[[]sluice.WebhookStats](v, "webhook.stats", "eventKey", key, "hours", c.Hours())
	if err != nil || len(found) == 0 {
		return nil, err
	}
	sums := c.Span.Cut(chart.Hourly(found[0].Figures))
	c.Plot = chart.Calls(sums, c.Span)
	closed, err := Closings(v, sums[0].Time)
	if err != nil {
		return nil, err
	}
	c.Plot.MarkGaps(closed, sums, c.Span)
	if v.May("trace.get") {
		c.Plot.Link(v.Base + "/calls?eventKey=" + url.QueryEscape(key) + "&")
	}
	return c, nil
}

// Closings returns when no calls were taken since a time.
func Closings(v *page.Visit, from time.Time) ([]sluice.Closing, error) {
	found, err := page.AskIfAllowed[sluice.List[sluice.Closing]](v, "server.closed",
		"from", from.UTC().Format(time.RFC3339))
	return found.Items, err
}
