package sender

func netlify() Preset {
	return Preset{
		Name: "netlify", Title: "Netlify",
		Checks:       "X-Webhook-Signature: a JWT with the SHA-256 of the body, signed with HMAC-SHA256",
		Secret:       "the notification's JWS secret token",
		SecretChosen: true,
		Dedupe:       "off",
		Retries:      "unknown",
		Setup: [3]string{
			"In the project: Project configuration, Notifications, Emails and webhooks, Add notification, HTTP POST request.",
			"URL to notify is the webhook's URL; JWS secret token is a random text, the same as the `signingSecret`.",
			"Choose the event; each one takes a notification of its own. Netlify gives its calls no id, so repeated ones are not recognised.",
		},
		checker: byJWT(Scheme{Header: "X-Webhook-Signature", Issuer: "netlify", BodyHash: "sha256"}, true),
	}
}
