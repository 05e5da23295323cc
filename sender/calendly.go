package sender

func calendly() Preset {
	return Preset{
		Name: "calendly", Title: "Calendly",
		Checks:       "Calendly-Webhook-Signature: HMAC-SHA256 of time and body, in hex; at most 3 minutes old",
		Secret:       "the subscription's signing key",
		SecretChosen: true,
		Dedupe:       "off",
		Retries:      "24h",
		Setup: [3]string{
			"Create the subscription with POST https://api.calendly.com/webhook_subscriptions; url is the webhook's URL.",
			"signing_key is a random text, the same as the `signingSecret`.",
			"Choose scope and events. Calendly gives its calls no id, so repeated ones are not recognised.",
		},
		rule: &rule{Scheme: Scheme{
			Header: "Calendly-Webhook-Signature", Format: "t={timestamp},v1={signature}", Signed: "{timestamp}.{body}", Tolerance: "3m",
		}},
	}
}
