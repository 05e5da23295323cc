package sender

func gitlab() Preset {
	return Preset{
		Name: "gitlab", Title: "GitLab",
		Checks:       "X-Gitlab-Token: the secret itself; the body is not signed",
		Unsigned:     true,
		Secret:       "the webhook's secret token",
		SecretChosen: true,
		Dedupe:       "header:Idempotency-Key",
		Retries:      "none",
		Setup: [3]string{
			"In the project or group: Settings, Webhooks, Add new webhook; URL is the webhook's URL.",
			"Secret token is a random text, the same as the `signingSecret`.",
			"Choose the triggers, leave SSL verification on, add the webhook, and test it from the list.",
		},
		Masked:  []string{"x-gitlab-token"},
		checker: byToken("X-Gitlab-Token", ""),
	}
}
