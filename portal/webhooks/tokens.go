package webhooks

import (
	"sluice"
	"sluice/portal/page"
)

// A tokensView is the page with the tokens of a webhook, where its URL is renewed.
type tokensView struct {
	sluice.WebhookView

	Problem string
}

func tokensPage(v *page.Visit, hook sluice.WebhookView) error {
	return showTokens(v, hook, "")
}

func showTokens(v *page.Visit, hook sluice.WebhookView, problem string) error {
	return v.Show("tokens", "URLs of "+hook.EventKey, tokensView{hook, problem})
}

// tokenAdd makes a new URL, or opens the first one again.
func tokenAdd(v *page.Visit, hook sluice.WebhookView) error {
	cmd, _ := v.Commands.Find("webhook.token.add")
	given := append(page.ArgsOf(cmd, v.R.PostForm), page.Args("eventKey", hook.EventKey)...)
	_, err := v.Run("webhook.token.add", given)
	if err == nil {
		return v.Redirect(tokensPath(hook) + "?done=added")
	}
	return showTokens(v, hook, v.Mistake(err))
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
