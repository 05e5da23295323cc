package sender

func alertmanager() Preset {
	return Preset{
		Name: "alertmanager", Title: "Alertmanager",
		Checks:       "Authorization: the secret as a bearer token; the body is not signed",
		Unsigned:     true,
		Secret:       "the credentials of the receiver's http_config",
		SecretChosen: true,
		Dedupe:       "off",
		Retries:      "5m",
		Setup: [3]string{
			"In alertmanager.yml, a receiver with webhook_configs: url is the webhook's URL.",
			"Below it, http_config, authorization: credentials are a random text, the same as the `signingSecret`.",
			"Reload Alertmanager. It repeats alerts that go on, and gives its calls no id.",
		},
		Masked:  []string{"authorization"},
		checker: byToken("Authorization", "Bearer"),
	}
}
