package sender

func strava() Preset {
	return Preset{
		Name: "strava", Title: "Strava",
		Checks:         "nothing, since Strava does not sign its calls: the URL is the secret",
		Unsigned:       true,
		SecretOptional: true,
		Handshake:      "GET with hub.challenge: it is repeated, if hub.verify_token is `verifyToken`",
		VerifyToken:    true,
		Dedupe:         "off",
		Retries:        "unknown",
		Setup: [3]string{
			"Strava does not sign its calls, so there is no `signingSecret`: whoever has the URL can call.",
			"Create the subscription with POST https://www.strava.com/api/v3/push_subscriptions; callback_url is the webhook's URL, verify_token is a random text, the same as the `verifyToken`.",
			"An application has one subscription. Strava gives its calls no id, so repeated ones are not recognised.",
		},
		greet: func(g greeting) (*Answer, error) {
			challenge, err := g.hubChallenge()
			return jsonAnswer([2]string{"hub.challenge", challenge}), err
		},
	}
}
