package sender

import (
	"crypto/subtle"
	"net/http"
	"strings"
)

func asana() Preset {
	return Preset{
		Name: "asana", Title: "Asana",
		Checks:         "X-Hook-Signature: HMAC-SHA256 of the body, in hex",
		Secret:         "learned from the first handshake",
		SecretOptional: true,
		Handshake:      "X-Hook-Secret: repeated and kept, the first time only",
		Dedupe:         "off", Retries: "24h",
		Setup: [3]string{
			"Make the webhook here first; its `signingSecret` stays empty.",
			"Create the webhook with POST https://app.asana.com/api/1.0/webhooks; target is the webhook's URL. Asana sends the secret at once, and it is kept.",
			"To set it up again, remove the `signingSecret` first. Asana gives its calls no id, so repeated ones are not recognised.",
		},
		Masked: []string{"x-hook-secret"},
		rule:   &rule{Scheme: Scheme{Header: "X-Hook-Signature"}},
		learns: true,
		greet:  greetAsana,
	}
}

// greetAsana learns the secret. A known one is only repeated, in case the first answer got
// lost.
func greetAsana(g greeting) (*Answer, error) {
	const name = "X-Hook-Secret"
	given := g.Header[name]
	if g.Method != http.MethodPost || len(given) != 1 || given[0] == "" || len(given[0]) > maxDeliveryID || !isPrintable(given[0]) {
		return nil, nil
	}
	if strings.ContainsAny(given[0], ",:") {
		return nil, nil // it would read as several secrets, or as the name of a stored one
	}
	answer := &Answer{Status: http.StatusOK, Header: http.Header{name: {given[0]}}}
	switch {
	case g.secret == "":
		answer.LearnedSecret = given[0]
	case subtle.ConstantTimeCompare([]byte(given[0]), []byte(g.secret)) != 1:
		return nil, nil
	}
	return answer, nil
}
