package sender

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"regexp"
)

// xChallenge matches the challenges of X. We sign them with the key of the calls, even for
// strangers; so no call may have such a body. The bodies of real calls are objects.
var xChallenge = regexp.MustCompile(`^[A-Za-z0-9_=-]{1,128}$`)

func x() Preset {
	return Preset{
		Name: "x", Title: "X (Twitter)",
		Checks:    "x-twitter-webhooks-signature: HMAC-SHA256 of the body, in base64",
		Secret:    "the app's API key secret (consumer secret)",
		Handshake: "GET with crc_token: its HMAC, at first and every hour",
		Dedupe:    "off", Retries: "unknown",
		Setup: [3]string{
			"In the developer portal, your app, Keys and tokens: enter the API Key Secret as the `signingSecret` first.",
			"Register the webhook's URL with POST https://api.x.com/2/webhooks; X checks it at once.",
			"Subscribe users to it. X gives its calls no id, so repeated ones are not recognised.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Twitter-Webhooks-Signature", Format: "sha256={signature}", Encoding: "base64"}, handedOut: xChallenge},
		greet: func(g greeting) (*Answer, error) {
			token := g.parameter("crc_token")
			if g.Method != http.MethodGet || !xChallenge.MatchString(token) {
				return nil, nil
			}
			return jsonAnswer([2]string{"response_token", "sha256=" + base64.StdEncoding.EncodeToString(macOf(sha256.New, g.secret, token))}), nil
		},
	}
}
