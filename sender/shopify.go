package sender

func shopify() Preset {
	return Preset{
		Name: "shopify", Title: "Shopify",
		Checks:  "X-Shopify-Hmac-SHA256: HMAC-SHA256 of the body, in base64",
		Secret:  "the app's client secret, or the key below the list of the shop's webhooks",
		Dedupe:  "header:X-Shopify-Webhook-Id",
		Retries: "4h",
		Setup: [3]string{
			"In the admin: Settings, Notifications, Webhooks, Create webhook; format JSON. Apps subscribe in shopify.app.toml or by the API instead.",
			"URL (or uri) is the webhook's URL.",
			"The signing key is shown below the list of webhooks (an app has its client secret instead): enter it as the `signingSecret`.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Shopify-Hmac-Sha256", Encoding: "base64"}},
	}
}
