package sender

func bigcommerce() Preset {
	return Preset{
		Name: "bigcommerce", Title: "BigCommerce",
		Checks:       "X-Webhook-Secret: the secret itself; the body is not signed",
		Unsigned:     true,
		Secret:       "the header X-Webhook-Secret of the webhook",
		SecretChosen: true,
		Dedupe:       "body:hash",
		Retries:      "48h",
		Setup: [3]string{
			"Create the webhook with POST https://api.bigcommerce.com/stores/{store_hash}/v3/hooks; destination is the webhook's URL.",
			"headers is {\"X-Webhook-Secret\": …} with a random text, the same as the `signingSecret`.",
			"scope is what to be told of, such as store/order/created. Calls have ids only: get the data with the API.",
		},
		Masked:  []string{"x-webhook-secret"},
		checker: byToken("X-Webhook-Secret", ""),
	}
}
