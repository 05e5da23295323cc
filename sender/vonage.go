package sender

func vonage() Preset {
	return Preset{
		Name: "vonage", Title: "Vonage",
		Checks:  "Authorization: a JWT with the SHA-256 of the body, signed with HMAC-SHA256; at most 5 minutes old",
		Secret:  "the account's signature secret",
		Dedupe:  "off",
		Retries: "24h",
		Setup: [3]string{
			"In the Vonage API Dashboard, API Settings: enter the Signature secret as the `signingSecret`.",
			"At the application: Inbound URL, Status URL or Event URL is the webhook's URL; the HTTP method is POST.",
			"For SMS choose in API Settings: POST-JSON. Each call has a JWT.",
		},
		Masked:  []string{"authorization"},
		checker: byJWT(Scheme{Header: "Authorization", BodyHash: "payload_hash"}, true),
	}
}
