package sender

import "time"

func twitch() Preset {
	return Preset{
		Name: "twitch", Title: "Twitch",
		Checks:       "Twitch-Eventsub-Message-Signature: HMAC-SHA256 of id, time and body, in hex; at most 10 minutes old",
		Secret:       "the subscription's secret",
		SecretChosen: true,
		Handshake:    "webhook_callback_verification, signed: the challenge is repeated",
		Dedupe:       "header:Twitch-Eventsub-Message-Id",
		Retries:      "unknown",
		Setup: [3]string{
			"Create the subscription with POST https://api.twitch.tv/helix/eventsub/subscriptions; transport is {\"method\": \"webhook\", \"callback\": the webhook's URL, \"secret\": …}.",
			"The secret is a random text of 10 to 100 characters, the same as the `signingSecret`. The callback must have HTTPS on port 443.",
			"Twitch sends a challenge at once, and the subscription is enabled.",
		},
		rule: &rule{
			Scheme: Scheme{
				Header: "Twitch-Eventsub-Message-Signature", Format: "sha256={signature}", Signed: "{id}{timestamp}{body}",
				TimestampHeader: "Twitch-Eventsub-Message-Timestamp", IDHeader: "Twitch-Eventsub-Message-Id", Tolerance: "10m",
			},
			layout: time.RFC3339Nano,
		},
		greetSigned: true,
		greet: func(g greeting) (*Answer, error) {
			if g.Header.Get("Twitch-Eventsub-Message-Type") != "webhook_callback_verification" {
				return nil, nil
			}
			return plainAnswer(g.text("challenge")), nil
		},
	}
}
