package portal

import (
	"net/http"
	"net/url"
	"strings"

	"sluice"
	"sluice/problem"
)

// A tour is the page that guides people to their first call.
type tour struct {
	Key     string // of the webhook; "" if there is none yet
	Entered string
	Problem string
	Line    curlLine
	Token   bool
	Arrived *tracedCall
	Live    string
}

// Rule says which event keys are valid.
func (tour) Rule() string { return sluice.KeyRule }

const firstKey = "webhook.hello"

func (p *Portal) startPage(w http.ResponseWriter, r *http.Request) error {
	key := r.URL.Query().Get("key")
	if key == "" {
		return p.render(w, r, http.StatusOK, "start", "First webhook", tour{Entered: firstKey})
	}
	hook, err := ask[sluice.WebhookView](p, r, "webhook.get", args("eventKey", key))
	if err != nil {
		return err
	}
	if hook.Provider != "" || hook.IsSigned() { // a plain call would be rejected
		return p.redirect(w, r, "/webhooks/"+url.PathEscape(hook.EventKey))
	}
	receive, _, _ := strings.Cut(hook.WebhookURL, "?")
	view := tour{Key: hook.EventKey, Token: sluice.UserFrom(r.Context()).May(sluice.MaySeeTokens), Live: p.liveFrom(hook.EventKey, "")}
	view.Line = curlLines(receive, hook.OpenToken(), true)[0]
	found, err := p.latest(r, hook.EventKey, "1")
	if err != nil {
		return err
	}
	if len(found) > 0 {
		view.Arrived = &found[0]
	}
	return p.render(w, r, http.StatusOK, "start", "First webhook", view)
}

// start creates the first webhook.
func (p *Portal) start(w http.ResponseWriter, r *http.Request) error {
	key := strings.TrimSpace(r.PostForm.Get("eventKey"))
	hook, err := ask[sluice.WebhookView](p, r, "webhook.put", args("eventKey", key, "payloadType", "raw"))
	if err != nil {
		if !isMistake(err) {
			return err
		}
		return p.render(w, r, problem.Status(err), "start", "First webhook", tour{Entered: key, Problem: sluice.AsError(err).Message})
	}
	return p.redirect(w, r, "/start?key="+url.QueryEscape(hook.EventKey))
}
