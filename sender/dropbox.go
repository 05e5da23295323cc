package sender

import "net/http"

func dropbox() Preset {
	return Preset{
		Name: "dropbox", Title: "Dropbox",
		Checks:    "X-Dropbox-Signature: HMAC-SHA256 of the body, in hex",
		Secret:    "the app secret",
		Handshake: "GET with challenge: it is repeated",
		Dedupe:    "off",
		Retries:   "unknown",
		Setup: [3]string{
			"In the App Console, Settings: enter the App secret as the `signingSecret`.",
			"Webhooks, Webhook URIs: add the webhook's URL; Dropbox checks it at once.",
			"Calls only say whose files changed, and have no id: get the changes with files/list_folder/continue.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Dropbox-Signature"}},
		greet: func(g greeting) (*Answer, error) {
			if g.Method != http.MethodGet {
				return nil, nil
			}
			return plainAnswer(g.parameter("challenge")), nil
		},
	}
}
