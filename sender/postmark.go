package sender

func postmark() Preset {
	return Preset{
		Name: "postmark", Title: "Postmark",
		Checks:       "Authorization: user name and password; the body is not signed",
		Unsigned:     true,
		Secret:       "user:password of the webhook's basic auth",
		SecretChosen: true,
		Dedupe:       "off",
		Retries:      "10h",
		Setup: [3]string{
			"In the message stream: Webhooks, Add webhook; Webhook URL is the webhook's URL.",
			"Add Basic auth credentials: user name and password are your own; `user:password` is the `signingSecret`. Without a colon it is the password of the user `sluice`.",
			"Choose the events, send a test, and save. Postmark gives its calls no id, so repeated ones are not recognised.",
		},
		Masked:  []string{"authorization"},
		checker: password,
	}
}
