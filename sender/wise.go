package sender

func wise() Preset {
	return Preset{
		Name: "wise", Title: "Wise",
		Checks:  "X-Signature-SHA256: RSA-SHA256 of the body, in base64",
		Secret:  "Wise's public key, in PEM",
		Dedupe:  "header:X-Delivery-Id",
		Retries: "14d",
		Setup: [3]string{
			"Enter Wise's public key of your environment (docs.wise.com, Webhooks, Signature verification) as the `signingSecret`.",
			"In Wise: Settings, Developer tools, Webhooks, Create new webhook; Webhook URL is the webhook's URL.",
			"Choose the events and test it: Wise sends a test event first, and takes the URL only if that is accepted.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Signature-SHA256", Algorithm: rsaSHA256, Encoding: "base64"}},
	}
}
