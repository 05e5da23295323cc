package sender

func lemonSqueezy() Preset {
	return Preset{
		Name: "lemon-squeezy", Title: "Lemon Squeezy",
		Checks:       "X-Signature: HMAC-SHA256 of the body, in hex",
		Secret:       "the webhook's signing secret",
		SecretChosen: true,
		Dedupe:       "off",
		Retries:      "3m",
		Setup: [3]string{
			"In the store: Settings, Webhooks, the plus sign; Callback URL is the webhook's URL.",
			"Signing secret is a random text of 6 to 40 characters, the same as the `signingSecret`.",
			"Choose the events and save. Lemon Squeezy gives its calls no id, so repeated ones are not recognised.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Signature"}},
	}
}
