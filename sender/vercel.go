package sender

func vercel() Preset {
	return Preset{
		Name: "vercel", Title: "Vercel",
		Checks:  "x-vercel-signature: HMAC-SHA1 of the body, in hex",
		Secret:  "the webhook's secret",
		Dedupe:  "body:id",
		Retries: "24h",
		Setup: [3]string{
			"In the team: Settings, Webhooks; choose the events and projects. Endpoint URL is the webhook's URL.",
			"Create the webhook; its secret is shown once: enter it as the `signingSecret`.",
			"For an integration the secret is its Client Secret.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Vercel-Signature", Algorithm: "sha1"}},
	}
}
