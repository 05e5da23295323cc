package sender

func mux() Preset {
	return Preset{
		Name: "mux", Title: "Mux",
		Checks:  "Mux-Signature: HMAC-SHA256 of time and body, in hex; at most 5 minutes old",
		Secret:  "the webhook's signing secret",
		Dedupe:  "body:id",
		Retries: "24h",
		Setup: [3]string{
			"In the dashboard: Settings, Webhooks, Create new webhook, for the right environment.",
			"URL to notify is the webhook's URL.",
			"Show the Signing Secret of the new webhook and enter it as the `signingSecret`.",
		},
		rule: &rule{Scheme: Scheme{Header: "Mux-Signature", Format: "t={timestamp},v1={signature}", Signed: "{timestamp}.{body}"}},
	}
}
