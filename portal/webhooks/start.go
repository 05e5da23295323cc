package webhooks

import (
	"net/url"
	"strings"

	"sluice"
	"sluice/portal/calls"
	"sluice/portal/page"
)

// A startView is the page that guides people to their first call.
type startView struct {
	Key     string // of the webhook; "" if there is none yet
	Entered string
	Problem string
	URL     string
	Open    string // the token in its URL
	Token   bool
	Arrived *sluice.CallView
}

// Rule says which event keys are valid.
func (startView) Rule() string { return sluice.KeyRule }

const firstKey = "webhook.hello"

func startPage(v *page.Visit) error {
	key := v.Query("key")
	if key == "" {
		return v.Show("start", "First webhook", startView{Entered: firstKey})
	}
	hook := page.Ask[sluice.WebhookView](v, "webhook.get", "eventKey", key)
	if hook.Provider != "" || hook.IsSigned() { // a plain call would be rejected
		return v.Redirect(webhookPath(hook.EventKey))
	}
	view := startView{
		Key: hook.EventKey, URL: hook.WebhookURL, Open: hook.OpenToken(), Token: v.User.May(sluice.MaySeeTokens),
	}
	if found := calls.Latest(v, hook.EventKey, "1"); len(found) > 0 {
		view.Arrived = &found[0]
	}
	return v.Show("start", "First webhook", view)
}

// start creates the first webhook.
func start(v *page.Visit) error {
	key := strings.TrimSpace(v.Entered("eventKey"))
	hook, err := page.Try[sluice.WebhookView](v, "webhook.put", "eventKey", key, "payloadType", "raw")
	if err == nil {
		return v.Redirect("/start?key=" + url.QueryEscape(hook.EventKey))
	}
	return v.Show("start", "First webhook", startView{Entered: key, Problem: v.Mistake(err)})
}
