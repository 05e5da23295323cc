package portal

import (
	"net/http"
	"net/url"
	"strings"

	"sluice"
	"sluice/command"
	"sluice/problem"
)

// A tokensView is the page with the tokens of a webhook, where its URL is renewed.
type tokensView struct {
	sluice.WebhookView

	Receive string // URL without the token
	Several bool   // are open, so that one can be deleted
	Entered url.Values
	Problem string
}

func (p *Portal) tokensPage(w http.ResponseWriter, r *http.Request, hook sluice.WebhookView) error {
	return p.renderTokens(w, r, http.StatusOK, tokensView{WebhookView: hook})
}

func (p *Portal) renderTokens(w http.ResponseWriter, r *http.Request, status int, view tokensView) error {
	view.Receive, _, _ = strings.Cut(view.WebhookURL, "?")
	open := 0
	for _, t := range view.Tokens {
		if t.Open {
			open++
		}
	}
	view.Several = open > 1
	return p.render(w, r, status, "webhook_tokens", "URLs of "+view.EventKey, view)
}

// tokenAdd makes a new URL, or opens the first one again.
func (p *Portal) tokenAdd(w http.ResponseWriter, r *http.Request, hook sluice.WebhookView) error {
	cmd, _ := p.Commands.Find("webhook.token.add")
	given := append(argsOf(cmd, r.PostForm), argument("eventKey", command.Text(hook.EventKey)))
	if _, err := p.run(r, "webhook.token.add", given); err != nil {
		if !isMistake(err) {
			return err
		}
		return p.renderTokens(w, r, problem.Status(err), tokensView{WebhookView: hook, Entered: r.PostForm, Problem: sluice.AsError(err).Message})
	}
	return p.redirect(w, r, tokensPath(hook)+"?done=added")
}

func tokensPath(hook sluice.WebhookView) string {
	return "/webhooks/" + url.PathEscape(hook.EventKey) + "/tokens"
}

func (p *Portal) tokenConfirm(w http.ResponseWriter, r *http.Request, hook sluice.WebhookView) error {
	last6 := r.PathValue("last6")
	return p.render(w, r, http.StatusOK, "confirm", "Delete a URL of "+hook.EventKey, confirmation{
		Name: "URL of " + hook.EventKey + " whose token ends in " + last6, What: "URL", Action: tokensPath(hook) + "/" + url.PathEscape(last6) + "/delete", Back: tokensPath(hook),
		Effect: "Calls with it are rejected at once, as calls with an unknown token are, and are not kept. Has the sender got another one?",
	})
}

func (p *Portal) tokenDelete(w http.ResponseWriter, r *http.Request, hook sluice.WebhookView) error {
	return p.runThen(w, r, tokensPath(hook)+"?done=deleted", "webhook.token.delete", args("eventKey", hook.EventKey, "token", r.PathValue("last6")))
}
