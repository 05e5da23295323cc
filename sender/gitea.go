package sender

func gitea() Preset {
	return Preset{
		Name: "gitea", Title: "Gitea (Forgejo)",
		Checks:       "X-Gitea-Signature: HMAC-SHA256 of the body, in hex",
		Secret:       "the webhook's secret",
		SecretChosen: true,
		Dedupe:       "header:X-Gitea-Delivery",
		Retries:      "none",
		Setup: [3]string{
			"In the repository or organization: Settings, Webhooks, Add Webhook, Gitea (or Forgejo); Target URL is the webhook's URL, POST Content Type is application/json.",
			"Secret is a random text, the same as the `signingSecret`.",
			"Choose the events, add the webhook, and test the delivery from its page.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Gitea-Signature"}},
	}
}
