package sender

func gocardless() Preset {
	return Preset{
		Name: "gocardless", Title: "GoCardless",
		Checks:       "Webhook-Signature: HMAC-SHA256 of the body, in hex",
		Secret:       "the endpoint's secret",
		SecretChosen: true,
		Dedupe:       "body:meta.webhook_id",
		Retries:      "unknown",
		Setup: [3]string{
			"In the dashboard: Developers, Create, Webhook endpoint; URL is the webhook's URL.",
			"Secret is a random text, the same as the `signingSecret`.",
			"Save and send a test webhook. One call has up to 250 events, in `events`.",
		},
		rule: &rule{Scheme: Scheme{Header: "Webhook-Signature"}},
	}
}
