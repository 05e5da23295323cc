package sender

func xero() Preset {
	return Preset{
		Name: "xero", Title: "Xero",
		Checks:  "x-xero-signature: HMAC-SHA256 of the body, in base64",
		Secret:  "the app's webhooks key",
		Dedupe:  "off",
		Retries: "24h",
		Setup: [3]string{
			"At developer.xero.com, your app, Webhooks: choose the events; Delivery URL is the webhook's URL.",
			"Save, copy the Webhooks key and enter it as the `signingSecret`.",
			"Send 'Intent to receive': Xero sends good and forged calls and expects 200 and 401. Calls have no id, so repeated ones are not recognised.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Xero-Signature", Encoding: "base64"}},
	}
}
