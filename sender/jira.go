package sender

func jira() Preset {
	return Preset{
		Name: "jira", Title: "Jira",
		Checks:       "X-Hub-Signature: HMAC-SHA256 of the body, in hex",
		Secret:       "the webhook's secret",
		SecretChosen: true,
		Dedupe:       "header:X-Atlassian-Webhook-Identifier",
		Retries:      "75m",
		Setup: [3]string{
			"In Jira: Settings, System, WebHooks, Create a WebHook; URL is the webhook's URL.",
			"Secret: generate one, or enter a random text; it is the same as the `signingSecret`.",
			"Choose the events, and a JQL filter if you want one, and create it.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Hub-Signature", Format: "sha256={signature}"}},
	}
}
