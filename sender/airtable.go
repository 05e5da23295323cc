package sender

func airtable() Preset {
	return Preset{
		Name: "airtable", Title: "Airtable",
		Checks:  "X-Airtable-Content-MAC: HMAC-SHA256 of the body, in hex",
		Secret:  "the webhook's macSecretBase64",
		Dedupe:  "off",
		Retries: "unknown",
		Setup: [3]string{
			"Create the webhook with POST https://api.airtable.com/v0/bases/{baseId}/webhooks; notificationUrl is the webhook's URL.",
			"Enter macSecretBase64 of the answer as the `signingSecret`: Airtable shows it only once.",
			"Calls only say that a base changed, and have no id: get the changes with GET …/webhooks/{webhookId}/payloads. Refresh the webhook every week, since it expires.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Airtable-Content-MAC", Format: "hmac-sha256={signature}"}, key: standardKey},
	}
}
