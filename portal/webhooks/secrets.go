package webhooks

import (
	"encoding/hex"
	"strings"

	"sluice"
	"sluice/portal/page"
)

// newSecret returns a random secret in hex, which is valid base64 too.
func newSecret() string { return hex.EncodeToString(sluice.RandomBytes(20)) }

// fillSecrets makes up secrets that were left empty in the form of a webhook. Some
// senders show theirs only once they have the URL: until it is entered here, all calls
// are rejected. It returns a secret that people must enter at the sender.
func fillSecrets(v *page.Visit, before sluice.WebhookView) (made string) {
	entered := v.R.PostForm
	entered.Set("signingSecret", strings.TrimSpace(entered.Get("signingSecret")))
	name := entered.Get("provider")
	if name == "" || !v.May("provider.get") {
		return ""
	}
	preset := page.Ask[sluice.ProviderView](v, "provider.get", "provider", name)
	if preset.VerifyToken && entered.Get("verifyToken") == "" && before.UUID == "" {
		entered.Set("verifyToken", newSecret())
	}
	if !preset.SecretRequired || preset.Fixed() || before.IsSigned() || entered.Get("signingSecret") != "" {
		return ""
	}
	secret := newSecret()
	entered.Set("signingSecret", secret)
	if !preset.Chosen() {
		return ""
	}
	return secret
}

// webhookSecret stores the signing secret that was entered, or a new one, which it
// shows once.
func webhookSecret(v *page.Visit, hook sluice.WebhookView) error {
	view := webhookView{WebhookView: hook}
	secret := strings.TrimSpace(v.Entered("signingSecret"))
	if v.Entered("do") == "make" {
		secret = newSecret()
		view.Made = secret
	}
	var err error = sluice.InvalidParameter("signingSecret", "Enter the signing secret.")
	if secret != "" {
		_, err = v.Run("webhook.put", "uuid", hook.UUID, "signingSecret", secret)
	}
	if err != nil {
		view.Made = ""
	} else if view.Made == "" {
		return v.Redirect(webhookPath(hook.EventKey) + "?done=secret")
	}
	view.Wrong = v.Mistake(err)
	return renderWebhook(v, view)
}
