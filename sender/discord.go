package sender

import (
	"net/http"

	"sluice"
)

func discord() Preset {
	return Preset{
		Name: "discord", Title: "Discord",
		Checks:    "X-Signature-Ed25519: Ed25519 of time and body, in hex; at most 5 minutes old",
		Secret:    "the application's public key",
		Handshake: "PING, signed: answered with PONG, or 204 for webhook events",
		Dedupe:    "body:id",
		Retries:   "10m",
		Answers:   Answers{Form: sluice.AnswerValue, Words: "what a pipeline makes, as JSON"},
		Setup: [3]string{
			"At discord.com/developers, your application, General Information: enter the Public Key as the `signingSecret` first.",
			"Endpoint on the page Webhooks, or Interactions Endpoint URL there, is the webhook's URL. Discord wants the answer to an interaction within 3 seconds: a pipeline that makes `{type: 4, data: {content: Thanks}}` replies.",
			"Save; Discord sends a good and a forged PING and takes the URL only if the forged one is refused.",
		},
		rule: &rule{Scheme: Scheme{
			Header: "X-Signature-Ed25519", Algorithm: "ed25519", Signed: "{timestamp}{body}", TimestampHeader: "X-Signature-Timestamp",
		}},
		greetSigned: true,
		greet: func(g greeting) (*Answer, error) {
			kind := string(lookup(g.Body, []string{"type"}))
			isEvent := lookup(g.Body, []string{"event"}) != nil
			switch {
			case g.Method != http.MethodPost:
			case kind == "0":
				return &Answer{Status: http.StatusNoContent, Header: http.Header{"Content-Type": {"application/json"}}}, nil
			case kind == "1" && !isEvent:
				return &Answer{Status: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(`{"type":1}`)}, nil
			}
			return nil, nil
		},
	}
}
