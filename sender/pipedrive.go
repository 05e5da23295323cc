package sender

func pipedrive() Preset {
	return Preset{
		Name: "pipedrive", Title: "Pipedrive",
		Checks:       "Authorization: user name and password; the body is not signed",
		Unsigned:     true,
		Secret:       "the password of the webhook's HTTP authentication",
		SecretChosen: true,
		Dedupe:       "body:meta.id",
		Retries:      "3m",
		Setup: [3]string{
			"In Pipedrive: Tools and apps, Webhooks, Create new webhook; Endpoint URL is the webhook's URL.",
			"HTTP Auth username is `sluice`; the password is your own, the same as the `signingSecret`. With another user name it is `user:password`.",
			"Choose event action and object, and save.",
		},
		Masked:  []string{"authorization"},
		checker: password,
	}
}
