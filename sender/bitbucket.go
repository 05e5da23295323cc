package sender

func bitbucket() Preset {
	return Preset{
		Name: "bitbucket", Title: "Bitbucket",
		Checks:       "X-Hub-Signature: HMAC-SHA256 of the body, in hex",
		Secret:       "the webhook's secret",
		SecretChosen: true,
		Dedupe:       "header:X-Request-UUID",
		Retries:      "unknown",
		Setup: [3]string{
			"In the repository: Repository settings, Webhooks, Add webhook; URL is the webhook's URL.",
			"Secret is a random text, the same as the `signingSecret`.",
			"Choose the triggers and save. Bitbucket Data Center has its ids elsewhere: set `dedupe` to `header:X-Request-Id`.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Hub-Signature", Format: "sha256={signature}"}},
	}
}
