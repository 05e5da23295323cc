package sender

import "net/http"

func trello() Preset {
	return Preset{
		Name: "trello", Title: "Trello",
		Checks:    "X-Trello-Webhook: HMAC-SHA1 of body and URL, in base64",
		Secret:    "the secret of the Power-Up's API key",
		Handshake: "HEAD: answered with 200",
		Dedupe:    "body:action.id",
		Retries:   "4m",
		Setup: [3]string{
			"At trello.com/power-ups/admin, your Power-Up, API key: enter the Secret as the `signingSecret`.",
			"Create the webhook with POST https://api.trello.com/1/webhooks; callbackURL is the webhook's URL, idModel the board or card.",
			"The server must be told its public URL (`--public-url`), since Trello signs the URL as it was entered.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Trello-Webhook", Algorithm: "sha1", Encoding: "base64", Signed: "{body}{url}"}},
		greet: func(g greeting) (*Answer, error) {
			if g.Method != http.MethodHead {
				return nil, nil
			}
			return &Answer{Status: http.StatusOK, Header: http.Header{}}, nil
		},
	}
}
