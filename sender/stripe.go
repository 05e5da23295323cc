package sender

func stripe() Preset {
	return Preset{
		Name: "stripe", Title: "Stripe",
		Checks:  "Stripe-Signature: HMAC-SHA256 of time and body, in hex; at most 5 minutes old",
		Secret:  "the endpoint's signing secret (whsec_…)",
		Dedupe:  "body:id",
		Retries: "3d",
		Setup: [3]string{
			"In the Dashboard: Developers, Webhooks, Add destination; choose the events, then Webhook endpoint.",
			"Endpoint URL is the webhook's URL.",
			"Reveal the signing secret (whsec_…) of the new endpoint and enter it as the `signingSecret`.",
		},
		rule: &rule{Scheme: Scheme{Header: "Stripe-Signature", Format: "t={timestamp},v1={signature}", Signed: "{timestamp}.{body}"}},
	}
}
