package sender

import (
	"mime"
	"net/http"
	"net/url"
	"regexp"

	"sluice"
)

// CloudEvent returns the attributes of a call that is a CloudEvent, in binary or in
// structured mode. Other calls, and batches of more than one, have none.
func (c *Call) CloudEvent() (e sluice.CloudEvent, ok bool) {
	attributes := map[string]*string{
		"id": &e.ID, "source": &e.Source, "type": &e.Type, "subject": &e.Subject, "time": &e.Time,
	}
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

// hostName matches the host of an origin.
var hostName = regexp.MustCompile(`^[0-9A-Za-z._:-]{1,253}$`)

// greetOrigin answers whether the webhook accepts calls of an origin
// (CloudEvents, HTTP 1.1 Web Hooks, 4).
func greetOrigin(g greeting) *Answer {
	origin := g.Header.Get("Webhook-Request-Origin")
	if g.Method != http.MethodOptions || !hostName.MatchString(origin) {
		return nil
	}
	header := http.Header{"Allow": {http.MethodPost}, "Webhook-Allowed-Origin": {origin}}
	if g.Header.Get("Webhook-Request-Rate") != "" {
		header.Set("Webhook-Allowed-Rate", "*")
	}
	return &Answer{Status: http.StatusOK, Header: header}
}
