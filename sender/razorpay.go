package sender

func razorpay() Preset {
	return Preset{
		Name: "razorpay", Title: "Razorpay",
		Checks:       "X-Razorpay-Signature: HMAC-SHA256 of the body, in hex",
		Secret:       "the webhook's secret",
		SecretChosen: true,
		Dedupe:       "header:X-Razorpay-Event-Id",
		Retries:      "24h",
		Setup: [3]string{
			"In the dashboard: Account & Settings, Webhooks, Add New Webhook; Webhook URL is the webhook's URL.",
			"Secret is a random text, the same as the `signingSecret`.",
			"Choose the active events and create the webhook.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Razorpay-Signature"}},
	}
}
