package sender

func pagerduty() Preset {
	return Preset{
		Name: "pagerduty", Title: "PagerDuty",
		Checks:  "X-PagerDuty-Signature: HMAC-SHA256 of the body, in hex",
		Secret:  "the subscription's secret",
		Dedupe:  "body:event.id",
		Retries: "unknown",
		Setup: [3]string{
			"In PagerDuty: Integrations, Generic Webhooks (v3), New Webhook; Webhook URL is the webhook's URL.",
			"Choose the scope and the events and add it.",
			"Copy the secret, which is shown once, and enter it as the `signingSecret`.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Pagerduty-Signature", Format: "v1={signature}"}, commas: true},
	}
}
