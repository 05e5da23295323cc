package sender

func monday() Preset {
	return Preset{
		Name: "monday", Title: "monday.com",
		Checks:    "Authorization: a JWT, signed with HMAC-SHA256; the body is not signed",
		Secret:    "the app's signing secret",
		Handshake: "challenge: it is repeated",
		Dedupe:    "body:event.triggerUuid",
		Retries:   "30m",
		Setup: [3]string{
			"In the Developer Center, your app, Basic Information: enter the Signing Secret as the `signingSecret`. monday.com signs only webhooks that an app makes.",
			"With a token of the app, run the mutation create_webhook; url is the webhook's URL. monday.com sends a challenge at once.",
			"Webhooks that are made on a board, under Integrations, are not signed: leave `provider` out for those.",
		},
		Masked:  []string{"authorization"},
		checker: byJWT(Scheme{Header: "Authorization"}, false),
		greet: func(g greeting) (*Answer, error) {
			return jsonAnswer([2]string{"challenge", g.text("challenge")}), nil
		},
	}
}
