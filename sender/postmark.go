package sender

func postmark() Preset {
	return Preset{
		Name: "postmark", Title: "Postmark",
		Checks:       "Authorization: user name and password; the body is not signed",
		Unsigned:     true,
		Secret:       "the password of the webhook's basic auth",
		SecretChosen: true,
		Dedupe:       "off",
		Retries:      "10h",
		Setup: [3]string{
			"In the message stream: Webhooks, Add webhook; Webhook URL is the webhook's URL.",
			"Add Basic auth credentials: user name `sluice`, and a password of your own, the same as the `signingSecret`. With another user name it is `user:password`.",
			"Choose the events, send a test, and save. Postmark gives its calls no id, so repeated ones are not recognised.",
		},
		Masked:  []string{"authorization"},
		checker: password,
	}
}
