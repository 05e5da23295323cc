package sender

func cloudEvents() Preset {
	return Preset{
		Name: "cloudevents", Title: "CloudEvents",
		Checks:         "Authorization: the secret as a bearer token, if one is set; nothing is signed",
		Unsigned:       true,
		Secret:         "the bearer token that the sender sends",
		SecretChosen:   true,
		SecretOptional: true,
		Handshake:      "OPTIONS with WebHook-Request-Origin: the origin is allowed",
		Dedupe:         "cloudevent",
		Retries:        "unknown",
		Setup: [3]string{
			"At the sender (Knative, Event Grid, a broker, …), the sink or endpoint is the webhook's URL; binary and structured mode are both fine.",
			"If it can send a bearer token, that is a random text, the same as the `signingSecret`.",
			"Send one event in a call: batches have no one id, so repeated ones are not recognised.",
		},
		Masked:  []string{"authorization"},
		checker: byToken("Authorization", "Bearer"),
		greet:   func(g greeting) (*Answer, error) { return g.originAnswer(), nil },
	}
}
