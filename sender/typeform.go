package sender

func typeform() Preset {
	return Preset{
		Name: "typeform", Title: "Typeform",
		Checks:       "Typeform-Signature: HMAC-SHA256 of the body, in base64",
		Secret:       "the webhook's secret",
		SecretChosen: true,
		Dedupe:       "body:event_id",
		Retries:      "10h",
		Setup: [3]string{
			"In the form: Connect, Webhooks, Add a webhook; Endpoint is the webhook's URL.",
			"Edit, Secret is a random text, the same as the `signingSecret`.",
			"Turn the webhook on and send a test request.",
		},
		rule: &rule{Scheme: Scheme{Header: "Typeform-Signature", Format: "sha256={signature}", Encoding: "base64"}},
	}
}
