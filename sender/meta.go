package sender

func meta() Preset {
	return Preset{
		Name: "meta", Title: "Meta (Facebook, Instagram, WhatsApp)",
		Checks:      "X-Hub-Signature-256: HMAC-SHA256 of the body, in hex",
		Secret:      "the app secret",
		Handshake:   "GET with hub.challenge: it is repeated, if hub.verify_token is `verifyToken`",
		VerifyToken: true,
		Dedupe:      "body:entry.0.changes.0.value.messages.0.id",
		Retries:     "36h",
		Setup: [3]string{
			"At developers.facebook.com, App settings, Basic: enter the App secret as the `signingSecret`.",
			"In the product (WhatsApp, Messenger, …), Configuration, Webhook: Callback URL is the webhook's URL, Verify token is a random text, the same as the `verifyToken`.",
			"Verify and save, then subscribe to the fields. Ids are known for WhatsApp messages only.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Hub-Signature-256", Format: "sha256={signature}"}},
		greet: func(g greeting) (*Answer, error) {
			challenge, err := g.hubChallenge()
			return plainAnswer(challenge), err
		},
	}
}
