package sender

func chargebee() Preset {
	return Preset{
		Name: "chargebee", Title: "Chargebee",
		Checks:       "Authorization: user name and password; the body is not signed",
		Unsigned:     true,
		Secret:       "user:password of the webhook's basic authentication",
		SecretChosen: true,
		Dedupe:       "body:id",
		Retries:      "3d",
		Setup: [3]string{
			"In the site: Settings, Configure Chargebee, Webhooks, Add Webhook; Webhook URL is the webhook's URL.",
			"Protect webhook URL with basic authentication: user name and password are your own; `user:password` is the `signingSecret`. Without a colon it is the password of the user `sluice`.",
			"Choose the events and API version 2, create the webhook, and test it.",
		},
		Masked:  []string{"authorization"},
		checker: password,
	}
}
