package sender

func clerk() Preset {
	return Preset{
		Name: "clerk", Title: "Clerk",
		Checks:  "svix-signature: HMAC-SHA256 of id, time and body, in base64; at most 5 minutes old",
		Secret:  "the endpoint's signing secret (whsec_…)",
		Dedupe:  "header:svix-id",
		Retries: "28h",
		Setup: [3]string{
			"In the Clerk Dashboard: Configure, Webhooks, Add Endpoint; Endpoint URL is the webhook's URL.",
			"Choose the events and create it.",
			"Copy the signing secret (whsec_…) of the new endpoint and enter it as the `signingSecret`.",
		},
		rule: standardRule("svix"),
	}
}
