package sender

import (
	"mime"
	"net/url"

	"sluice"
)

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

// CloudEvent returns the attributes of a call that is a CloudEvent, in binary or in
// structured mode. Other calls, and batches of more than one, have none.
func (c *Call) CloudEvent() (e sluice.CloudEvent, ok bool) {
	attributes := map[string]*string{"id": &e.ID, "source": &e.Source, "type": &e.Type, "subject": &e.Subject, "time": &e.Time}
	media, _, _ := mime.ParseMediaType(c.Header.Get("Content-Type"))
	for name, value := range attributes {
		switch media {
		case "application/cloudevents+json":
			*value = c.text(name)
		case "application/cloudevents-batch+json":
			*value = c.text("0", name)
		default:
			*value = c.Header.Get("Ce-" + name)
			if plain, err := url.PathUnescape(*value); err == nil {
				*value = plain // headers have escapes for what is not ASCII
			}
		}
	}
	return e, e.ID != "" && e.Source != "" && e.Type != ""
}
