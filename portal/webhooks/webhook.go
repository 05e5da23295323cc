package webhooks

import (
	"sluice"
	"sluice/portal/calls"
	"sluice/portal/chart"
	"sluice/portal/page"
)

// A webhookView is the page of a webhook.
type webhookView struct { //nolint:recvcheck // templates call methods of the value
	sluice.WebhookView

	Token   bool         // the user may see the token
	Open    string       // the token in its URL
	Chart   *chart.Chart // nil if there were no calls
	Sample  string       // whose headers a test call has; "" for none
	Payload string       // of a test call
	Media   string
	Medias  []string // that it can have
	Result  *calls.Sent
	Guarded bool // calls need more than the token

	Made      string      // the new signing secret, which is shown once
	Wrong     string      // what is wrong with the secret that was entered
	Sender    *connection // nil if the sender is not a known one
	Listeners []string
	Latest    []sluice.CallView
	Figures   *sluice.CallFigures // of a day; nil if the user may not see them
	Types     []sluice.TypeStats
}

// Waits reports whether the sender has not called yet. The page then says how to set
// it up.
func (v webhookView) Waits() bool { return v.Sender != nil && v.Sender.Arrived == nil }

// Untaken returns the kinds of events that no pipeline takes.
func (v webhookView) Untaken() (kinds []string) {
	for _, of := range v.Types {
		if of.Listeners != nil && *of.Listeners == 0 {
			kinds = append(kinds, of.Type)
		}
	}
	return kinds
}

func webhookPage(v *page.Visit, hook sluice.WebhookView) error {
	return renderWebhook(v, webhookView{WebhookView: hook})
}

// renderWebhook completes the page of a webhook and shows it.
func renderWebhook(v *page.Visit, view webhookView) error {
	view.Token = v.User.May(sluice.MaySeeTokens)
	view.Open = view.OpenToken()
	addCalls(v, &view)
	view.Sender = connectionOf(v, view.WebhookView, view.Made != "", view.Latest)
	view.addTestCall(v)
	view.Guarded = view.IsSigned() || view.Sender != nil && view.Sender.Signed
	return v.Show("webhook", view.EventKey, view)
}

// addCalls adds a webhook's latest calls, its figures and its listeners to its page.
func addCalls(v *page.Visit, view *webhookView) {
	const latest = "5"
	view.Latest = calls.Latest(v, view.EventKey, latest)
	if v.May("webhook.stats") {
		of := page.Ask[[]sluice.WebhookStats](v, "webhook.stats", "eventKey", view.EventKey)
		view.Chart = webhookChart(v, view.EventKey)
		view.Figures = &sluice.CallFigures{}
		if len(of) > 0 {
			view.Figures, view.Types = &of[0].CallFigures, of[0].Types
		}
	}
	view.Listeners = listenersOf(view.EventKey, listening(v))
}
