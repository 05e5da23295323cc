package sender

func svix() Preset {
	return Preset{
		Name: "svix", Title: "Svix",
		Checks:  "svix-signature: HMAC-SHA256 of id, time and body, in base64; at most 5 minutes old",
		Secret:  "the endpoint's signing secret (whsec_…)",
		Dedupe:  "header:svix-id",
		Retries: "28h",
		Setup: [3]string{
			"In the sender's webhook portal (it runs on Svix): Endpoints, Add Endpoint; Endpoint URL is the webhook's URL.",
			"Copy the Signing Secret (whsec_…) of the endpoint and enter it as the `signingSecret`.",
			"If its calls have the headers webhook-… instead of svix-…, take the provider `standard-webhooks`.",
		},
		rule: standardRule("svix"),
	}
}
