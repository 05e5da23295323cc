package sender

func chargebee() Preset {
	return Preset{
		Name: "chargebee", Title: "Chargebee",
		Checks:       "Authorization: user name and password; the body is not signed",
		Unsigned:     true,
		Secret:       "the password of the webhook's basic authentication",
		SecretChosen: true,
		Dedupe:       "body:id",
		Retries:      "3d",
		Setup: [3]string{
			"In the site: Settings, Configure Chargebee, Webhooks, Add Webhook; Webhook URL is the webhook's URL.",
			"Protect webhook URL with basic authentication: user name `sluice`, and a password of your own, the same as the `signingSecret`. With another user name it is `user:password`.",
			"Choose the events and API version 2, create the webhook, and test it.",
		},
		Masked:  []string{"authorization"},
		checker: password,
	}
}
