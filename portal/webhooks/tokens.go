package webhooks

import (
	"strings"

	"sluice"
	"sluice/portal/page"
)

// A tokensView is the page with the tokens of a webhook, where its URL is renewed.
type tokensView struct {
	sluice.WebhookView

	Receive string // URL without the token
	Several bool   // are open, so that one can be deleted
	Problem string
}

func tokensPage(v *page.Visit, hook sluice.WebhookView) error {
	return renderTokens(v, tokensView{WebhookView: hook})
}

func renderTokens(v *page.Visit, view tokensView) error {
	view.Receive, _, _ = strings.Cut(view.WebhookURL, "?")
	open := 0
	for _, t := range view.Tokens {
		if t.Open {
			open++
		}
	}
	view.Several = open > 1
	return v.Show("tokens", "URLs of "+view.EventKey, view)
}

// tokenAdd makes a new URL, or opens the first one again.
func tokenAdd(v *page.Visit, hook sluice.WebhookView) error {
	cmd, _ := v.Commands.Find("webhook.token.add")
	given := append(page.ArgsOf(cmd, v.R.PostForm), page.Args("eventKey", hook.EventKey)...)
	_, err := v.Run("webhook.token.add", given)
	if err == nil {
		return v.Redirect(tokensPath(hook) + "?done=added")
	}
	view := tokensView{WebhookView: hook}
	if view.Problem, err = v.Mistake(err); err != nil {
		return err
	}
	return renderTokens(v, view)
}

func tokensPath(hook sluice.WebhookView) string {
	return webhookPath(hook.EventKey) + "/tokens"
}

func tokenConfirm(v *page.Visit, hook sluice.WebhookView) error {
	return v.Show("confirm", "Delete a URL of "+hook.EventKey, page.Confirmation{
		Name: "URL of " + hook.EventKey + " whose token ends in " + v.Named("last6"), What: "URL",
		Back: tokensPath(hook),
		Effect: "Calls with it are rejected at once, as calls with an unknown token are, and are not kept. Has the " +
			"sender got another one?",
	})
}

func tokenDelete(v *page.Visit, hook sluice.WebhookView) error {
	return v.RunThen(tokensPath(hook)+"?done=deleted", "webhook.token.delete", "eventKey", hook.EventKey,
		"token", v.Named("last6"))
}
