package webhooks

import (
	"cmp"
	"slices"
	"time"

	"sluice"
	"sluice/command"
	"sluice/missed"
	"sluice/portal/page"
	"sluice/problem"
)

// A missedView is the page on which the sender of a webhook is asked what was missed.
type missedView struct {
	sluice.WebhookView

	Title   string // of the sender
	Since   string
	Spans   []missedSpan
	Found   *sluice.Missed       // nil: it was not asked yet
	Said    *sluice.Subscription // of the webhook; nil: it was not asked yet
	DryRun  bool
	Problem string
}

// A missedSpan is a time to ask about.
type missedSpan struct{ Name, Title string }

var missedSpans = []missedSpan{
	{"1h", "the last hour"}, {"24h", "the last 24 hours"}, {"72h", "the last 3 days"}, {"168h", "the last 7 days"},
}

// Left returns the deliveries that were not accepted before.
func (v missedView) Left() []sluice.MissedItem {
	return slices.DeleteFunc(slices.Clone(v.Found.Items),
		func(i sluice.MissedItem) bool { return i.State == sluice.MissedHad })
}

// Lists reports whether the sender has a list of what it has sent.
func (v missedView) Lists() bool { return missed.Asks(v.Provider) }

// Asks reports whether the sender of a webhook can be asked about it.
func (v webhookView) Asks() bool { return missed.Checks(v.Provider) }

func missedPage(v *page.Visit, hook sluice.WebhookView) error {
	return renderMissed(v, missedView{WebhookView: hook})
}

func renderMissed(v *page.Visit, view missedView) error {
	view.Title = senderOf(view.WebhookView, providers(v), sluice.ProviderView{Title: view.Provider}).Title
	view.Spans = missedSpans
	view.Since = cmp.Or(view.Since, missedSpans[1].Name)
	return v.Show("missed", "Missed calls of "+view.EventKey, view)
}

// missedAsk asks the sender whether it still calls; or what is missing, and has it deliver that
// again unless it was only to be looked for.
func missedAsk(v *page.Visit, hook sluice.WebhookView) error {
	view := missedView{WebhookView: hook, Since: v.Entered("since"), DryRun: v.Entered("do") != "yes"}
	length, err := time.ParseDuration(view.Since)
	if err != nil {
		length = 24 * time.Hour
	}
	given := page.Args("eventKey", hook.EventKey, "from", time.Now().Add(-length).UTC().Format(time.RFC3339))
	if view.DryRun {
		given = append(given, page.Args("dryRun", "true")...)
	}
	if v.Entered("do") == "check" {
		view.Said, err = answered[sluice.Subscription](v, "webhook.check", given[:1])
	} else {
		view.Found, err = answered[sluice.Missed](v, "webhook.missed", given)
	}
	if err == nil {
		return renderMissed(v, view)
	}
	if kind := sluice.AsError(err).Kind; kind == sluice.Forbidden || kind == sluice.Unauthenticated {
		return err
	}
	view.Problem, v.Status = sluice.AsError(err).Message, problem.Status(err)
	return renderMissed(v, view)
}

// answered returns what a command answers, nil if it fails.
func answered[T any](v *page.Visit, name string, given command.Args) (*T, error) {
	found, err := page.Try[T](v, name, given)
	if err != nil {
		return nil, err
	}
	return &found, nil
}
