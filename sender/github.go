package sender

func github() Preset {
	return Preset{
		Name: "github", Title: "GitHub",
		Checks:       "X-Hub-Signature-256: HMAC-SHA256 of the body, in hex",
		Secret:       "the webhook's secret",
		SecretChosen: true,
		Dedupe:       "header:X-GitHub-Delivery",
		Retries:      "none",
		Setup: [3]string{
			"In the repository or organization: Settings, Webhooks, Add webhook; Payload URL is the webhook's URL, Content type is application/json.",
			"Secret is a random text of at least 20 characters, the same as the `signingSecret`.",
			"Choose the events and add the webhook; GitHub sends a ping at once.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Hub-Signature-256", Format: "sha256={signature}"}},
	}
}
