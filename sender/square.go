package sender

func square() Preset {
	return Preset{
		Name: "square", Title: "Square",
		Checks:  "x-square-hmacsha256-signature: HMAC-SHA256 of URL and body, in base64",
		Secret:  "the subscription's signature key",
		Dedupe:  "body:event_id",
		Retries: "24h",
		Setup: [3]string{
			"In the Developer Console, your application, Webhooks, Subscriptions: Add subscription; URL is the webhook's URL.",
			"Choose the events, save, and enter the Signature key of the subscription as the `signingSecret`.",
			"The server must be told its public URL (`--public-url`), since Square signs the URL as it was entered.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Square-Hmacsha256-Signature", Encoding: "base64", Signed: "{url}{body}"}},
	}
}
