package sender

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"sluice"
	"sluice/value"
)

// IsEventType reports whether a text can be the parameter eventType, which says where calls name
// their kind. Empty, it is where the sender does, or the type of a CloudEvent.
func IsEventType(place string) bool {
	d, err := ParseDedupe(place)
	return place == "" || err == nil && d.where != "content" && d.where != "mailgun" && d.where != "item"
}

// EventType returns the kind that an event names at a place, as the parameter eventType has it; ""
// if it names none there. A text that is too long to be a kind is none. Header and query are those
// of the event, which has no secrets in them; the body is that of the call, or an item of it.
func EventType(place string, e *sluice.Event, body []byte) (kind string) {
	where, name, _ := strings.Cut(place, ":")
	switch where {
	case "header":
		kind = e.Headers.Get(name)
	case "query":
		if values := e.Query[name]; len(values) > 0 {
			kind = values[0]
		}
	case "body":
		raw := value.Lookup(body, strings.Split(name, ".")...)
		if kind = value.Scalar(raw); string(raw) == "true" || string(raw) == "false" {
			kind = string(raw)
		}
	case "", "cloudevent":
		if e.CE != nil {
			kind = e.CE.Type
		}
	}
	if len(kind) > sluice.MaxType || !utf8.ValidString(kind) || strings.ContainsFunc(kind, unicode.IsControl) {
		return ""
	}
	return kind
}
