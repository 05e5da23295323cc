package sluice

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"sluice/value"
)

// EventPrefix and the key of an event make its key as a message: a message
// whose key begins with it is an event.
const EventPrefix = "svc.event."

// Encoding says in which form an event carries its payload.
type Encoding string

// The forms of a payload.
const (
	EncodingJSON   Encoding = "json"   // payload is the JSON value itself
	EncodingText   Encoding = "text"   // payload is a string
	EncodingBase64 Encoding = "base64" // payload.origin is a base64 string
	EncodingFiles  Encoding = "files"  // payload.files lists uploaded files
	EncodingNone   Encoding = "none"   // there is no payload
)

// An Event is one accepted call as its consumers see it, or an event or message
// that a pipeline has sent. The same JSON is stored, given to pipelines, and read
// by subscribers of the message key.
type Event struct {
	EventKey        string              `json:"eventKey,omitempty"`
	Key             string              `json:"key,omitempty"` // of a message, if it is no event
	Namespace       string              `json:"namespace"`
	TraceID         string              `json:"traceId"`
	Hops            int                 `json:"hops,omitempty"`        // how many events led to this one
	Listeners       []string            `json:"listeners,omitempty"`   // pipelines that it starts
	To              string              `json:"to,omitempty"`          // the only pipeline it is for
	Except          string              `json:"except,omitempty"`      // the pipeline it is not for
	ReplayOf        string              `json:"replayOf,omitempty"`    // trace id of the event it repeats
	FirstID         string              `json:"firstId,omitempty"`     // correlation id of the event that was the first of its replays
	Admitted        bool                `json:"admitted,omitempty"`    // a user let it out of the quarantine
	User            string              `json:"user,omitempty"`        // who replayed or admitted it
	DeliveryID      string              `json:"deliveryId,omitempty"`  // that the sender gave the call
	Fingerprint     *Fingerprint        `json:"delivery,omitempty"`    // by which a repeated call is found out
	BodyHash        string              `json:"bodyHash,omitempty"`    // of a call with a fingerprint, see HashBody
	Traceparent     string              `json:"traceparent,omitempty"` // of the work that it belongs to, see Spans
	ReceivedAt      time.Time           `json:"receivedAt"`
	CE              *CloudEvent         `json:"ce,omitempty"` // of a call that is one
	Payload         json.RawMessage     `json:"payload,omitempty"`
	AppendPayload   func([]byte) []byte `json:"-"` // in place of Payload: one that is encoded where it is stored
	PayloadType     PayloadType         `json:"payloadType"`
	PayloadEncoding Encoding            `json:"payloadEncoding"`
	ContentType     string              `json:"contentType"`
	Method          string              `json:"method"`
	Path            string              `json:"path,omitempty"` // that stood behind the token, as it came
	Query           map[string][]string `json:"query"`
	Headers         Headers             `json:"headers"`
	RemoteAddr      string              `json:"remoteAddr"`
}

// A CloudEvent has the attributes of an event in the format of the CNCF.
type CloudEvent struct {
	ID      string `json:"id"`
	Source  string `json:"source"`
	Type    string `json:"type"`
	Subject string `json:"subject,omitempty"`
	Time    string `json:"time,omitempty"`
}

func (c *CloudEvent) appendJSON(b []byte) []byte {
	b = appendField(b, `,"ce":{"id":`, c.ID)
	b = appendField(b, `,"source":`, c.Source)
	b = appendField(b, `,"type":`, c.Type)
	b = appendOptional(b, `,"subject":`, c.Subject)
	b = appendOptional(b, `,"time":`, c.Time)
	return append(b, '}')
}

// Replay returns an event that repeats this one, which has a correlation id, for one
// pipeline, or for all that listen now if it is "". It counts as a hop, so a run that
// replays its own event ends.
func (e *Event) Replay(ctx context.Context, correlationID, pipeline string) (*Event, error) {
	hops, err := NextHop(ctx)
	if err != nil {
		return nil, err
	}
	repeated := *e
	repeated.ReplayOf, repeated.FirstID = e.TraceID, cmp.Or(e.FirstID, correlationID)
	repeated.TraceID = NewTraceID(TraceOwner(e.TraceID), time.Now())
	repeated.Hops, repeated.Listeners, repeated.To, repeated.User = hops, nil, pipeline, ""
	if RunFrom(ctx) == nil {
		repeated.User = UserFrom(ctx).Name
	}
	repeated.Fingerprint, repeated.BodyHash = nil, "" // the repetition is wanted
	return &repeated, nil
}

// AppendJSON appends the event's JSON. It writes what encoding/json would
// decode into the same event, without the cost of reflection: this is on the
// path of every call.
func (e *Event) AppendJSON(b []byte) []byte {
	if e.Key == "" {
		b = appendField(b, `{"eventKey":`, e.EventKey)
	} else {
		b = appendField(b, `{"key":`, e.Key)
	}
	b = appendField(b, `,"namespace":`, e.Namespace)
	b = appendField(b, `,"traceId":`, e.TraceID)
	if e.Hops > 0 {
		b = appendNumber(b, `,"hops":`, e.Hops)
	}
	if len(e.Listeners) > 0 {
		b = append(b, `,"listeners":`...)
		b = appendStrings(b, e.Listeners)
	}
	b = appendOptional(b, `,"to":`, e.To)
	b = appendOptional(b, `,"except":`, e.Except)
	b = appendOptional(b, `,"replayOf":`, e.ReplayOf)
	b = appendOptional(b, `,"firstId":`, e.FirstID)
	if e.Admitted {
		b = append(b, `,"admitted":true`...)
	}
	b = appendOptional(b, `,"user":`, e.User)
	b = appendOptional(b, `,"deliveryId":`, e.DeliveryID)
	if e.Fingerprint != nil {
		b = append(b, `,"delivery":`...)
		b = e.Fingerprint.appendJSON(b)
	}
	b = appendOptional(b, `,"bodyHash":`, e.BodyHash)
	b = appendOptional(b, `,"traceparent":`, e.Traceparent)
	b = append(b, `,"receivedAt":"`...)
	b = e.ReceivedAt.UTC().AppendFormat(b, time.RFC3339Nano)
	b = append(b, '"')
	if e.CE != nil {
		b = e.CE.appendJSON(b)
	}
	b = e.appendPayload(b)
	b = appendField(b, `,"payloadType":`, string(e.PayloadType))
	b = appendField(b, `,"payloadEncoding":`, string(e.PayloadEncoding))
	b = appendField(b, `,"contentType":`, e.ContentType)
	b = appendField(b, `,"method":`, e.Method)
	b = appendOptional(b, `,"path":`, e.Path)
	b = append(b, `,"query":{`...)
	if len(e.Query) > 0 { // sorting nothing is not free
		for i, name := range slices.Sorted(maps.Keys(e.Query)) {
			b = appendStrings(appendKey(b, i, name), e.Query[name])
		}
	}
	b = append(b, `},"headers":{`...)
	for i, h := range e.Headers {
		b = appendKey(b, i, h.Name)
		b = value.AppendString(b, h.Value)
	}
	b = appendField(b, `},"remoteAddr":`, e.RemoteAddr)
	return append(b, '}')
}

func (e *Event) appendPayload(b []byte) []byte {
	switch {
	case e.Payload != nil:
		b = append(append(b, `,"payload":`...), e.Payload...)
	case e.AppendPayload != nil:
		b = e.AppendPayload(append(b, `,"payload":`...))
	}
	return b
}

// Headers are the headers of a request, in the order of their names. Their JSON
// is an object.
type Headers []Header

// A Header is one header of a request: its name in lower case, and its value,
// several joined by a comma.
type Header struct{ Name, Value string }

// UnmarshalJSON implements json.Unmarshaler.
func (h *Headers) UnmarshalJSON(data []byte) error {
	var values map[string]string
	if err := json.Unmarshal(data, &values); err != nil {
		return err
	}
	*h = make(Headers, 0, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		*h = append(*h, Header{name, values[name]})
	}
	return nil
}

// MessageKey returns the key that consumers of messages know the event by.
func (e *Event) MessageKey() string {
	if e.Key != "" {
		return e.Key
	}
	return EventPrefix + e.EventKey
}

// Events takes events to stable storage.
type Events interface {
	// Accept stores an event, with the names of the pipelines that listen to it,
	// and waits for their outcomes, at most that long. It returns once the event
	// is on stable storage. The result has the listeners; the event itself stays
	// unchanged. After an error of kind Unavailable the event may be stored or not.
	//
	// An event whose Fingerprint was accepted before, within its window, is not
	// stored: the result is that of the first one, and a Duplicate.
	Accept(ctx context.Context, e *Event, wait time.Duration) (Result, error)
}

// StoredEvents returns single events, as JSON.
type StoredEvents interface {
	// Newest returns the newest event with that key, nil if there is none.
	Newest(ctx context.Context, eventKey string) (json.RawMessage, error)

	// Next waits for an event with that key, until ctx ends: then it is nil.
	Next(ctx context.Context, eventKey string) (json.RawMessage, error)
}

// An EventQuery selects stored events in the order in which they were stored.
type EventQuery struct {
	Pattern string        // of event keys, see KeyMatches
	After   string        // cursor: start behind this event; "" means behind the newest
	Limit   int           // at most this many
	Wait    time.Duration // how long to wait for the first one
	Cover   Cover         // events outside of it are not there
}

// EventLog reads stored events one after the other.
type EventLog interface {
	// After returns the events of a query as JSON, and the cursor behind them.
	// There are none if none came in time. They are on stable storage, so a
	// cursor never skips one. Gone if the cursor is of another store.
	After(ctx context.Context, q EventQuery) (events []json.RawMessage, next string, err error)
}

// maxKey is the length of the longest key of an event or a message.
const maxKey = 200

var (
	validKey     = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)
	validPattern = regexp.MustCompile(`^([A-Za-z0-9_-]+|\*)(\.([A-Za-z0-9_-]+|\*))*(\.#)?$`)
)

// KeyRule says in words what a key is.
const KeyRule = "1 to 200 letters, digits, _ and -, in groups joined by dots"

// ValidKey reports whether a text can be the key of an event or a message.
func ValidKey(key string) bool { return len(key) <= maxKey && validKey.MatchString(key) }

// ValidPattern reports whether a text can be a pattern of keys: a key in which
// * stands for one group, and # at the end for any number of groups.
func ValidPattern(pattern string) bool {
	return pattern == "#" || len(pattern) <= maxKey && validPattern.MatchString(pattern)
}

// KeyMatches reports whether a pattern fits a key.
func KeyMatches(pattern, key string) bool {
	for {
		p, morePattern, hasPattern := strings.Cut(pattern, ".")
		if p == "#" {
			return true
		}
		k, moreKey, hasKey := strings.Cut(key, ".")
		if p != "*" && p != k {
			return false
		}
		if !hasPattern || !hasKey {
			return hasPattern == hasKey || !hasKey && morePattern == "#"
		}
		pattern, key = morePattern, moreKey
	}
}
