package sender

import (
	"crypto/sha256"
	"encoding/hex"
)

func zoom() Preset {
	return Preset{
		Name: "zoom", Title: "Zoom",
		Checks:    "x-zm-signature: HMAC-SHA256 of time and body, in hex; at most 5 minutes old",
		Secret:    "the app's secret token",
		Handshake: "endpoint.url_validation, signed: plainToken and its HMAC",
		Dedupe:    "off",
		Retries:   "90m",
		Setup: [3]string{
			"At marketplace.zoom.us, Manage, your app, Features, Access: enter the Secret Token as the `signingSecret` first.",
			"Event Subscriptions: add one; Event notification endpoint URL is the webhook's URL.",
			"Choose the event types, press Validate and save. Zoom gives its calls no id, so repeated ones are not recognised.",
		},
		rule: &rule{Scheme: Scheme{
			Header: "X-Zm-Signature", Format: "v0={signature}", Signed: "v0:{timestamp}:{body}", TimestampHeader: "X-Zm-Request-Timestamp",
		}},
		greetSigned: true,
		greet: func(g greeting) (*Answer, error) {
			token := g.text("payload", "plainToken")
			if g.text("event") != "endpoint.url_validation" {
				return nil, nil
			}
			return jsonAnswer([2]string{"plainToken", token}, [2]string{"encryptedToken", hex.EncodeToString(macOf(sha256.New, g.secret, token))}), nil
		},
	}
}
