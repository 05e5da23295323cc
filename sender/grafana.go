package sender

func grafana() Preset {
	return Preset{
		Name: "grafana", Title: "Grafana",
		Checks:       "X-Grafana-Alerting-Signature: HMAC-SHA256 of the body, in hex",
		Secret:       "the contact point's HMAC secret",
		SecretChosen: true,
		Dedupe:       "off",
		Retries:      "unknown",
		Setup: [3]string{
			"In Alerting, Contact points: Add contact point, Integration Webhook; URL is the webhook's URL.",
			"Optional Webhook settings, HMAC Signature: Secret is a random text, the same as the `signingSecret`; leave Header and Timestamp Header empty. It takes Grafana 12 or newer.",
			"Test it, save, and choose it in a notification policy. Grafana repeats alerts that go on, and gives its calls no id.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Grafana-Alerting-Signature"}},
	}
}
