package sender

func klaviyo() Preset {
	return Preset{
		Name: "klaviyo", Title: "Klaviyo",
		Checks:       "Klaviyo-Signature: HMAC-SHA256 of body and time, in hex; at most 5 minutes old",
		Secret:       "the webhook's secret key",
		SecretChosen: true,
		Dedupe:       "off",
		Retries:      "unknown",
		Setup: [3]string{
			"In Klaviyo: Integrations, Developers, Webhooks, Create webhook; Endpoint URL is the webhook's URL.",
			"Secret key is a random text of at least 16 characters, the same as the `signingSecret`.",
			"Choose the topics. One call has several events, in `data`; each has an external_id.",
		},
		rule: &rule{Scheme: Scheme{Header: "Klaviyo-Signature", Signed: "{body}{timestamp}", TimestampHeader: "Klaviyo-Timestamp"}},
	}
}
