package sluice

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"sluice/value"
)

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
	ForwardID       string              `json:"forwardId,omitempty"`   // by which targets know it, if not by its correlation id
	Origin          *Origin             `json:"origin,omitempty"`      // what has set it off; nil: nothing has
	Admitted        bool                `json:"admitted,omitempty"`    // a user let it out of the quarantine
	User            string              `json:"user,omitempty"`        // who replayed or admitted it
	Type            string              `json:"type,omitempty"`        // kind that the sender names, of at most MaxType bytes
	Batch           *Item               `json:"batch,omitempty"`       // of a call that brought several
	Split           *Split              `json:"split,omitempty"`       // of such a call itself, see Batch.Call
	DeliveryID      string              `json:"deliveryId,omitempty"`  // that the sender gave the call
	Fingerprint     *Fingerprint        `json:"delivery,omitempty"`    // by which a repeated call is found out
	Repeats         *Fingerprint        `json:"-"`                     // of what the first run has sent, if a replayed one sends this
	BodyHash        string              `json:"bodyHash,omitempty"`    // of a call with a fingerprint, see SetFingerprint
	Traceparent     string              `json:"traceparent,omitempty"` // of the work that it belongs to, see Spans
	Due             time.Time           `json:"due,omitzero"`          // when pipelines get it; zero: at once
	ReceivedAt      time.Time           `json:"receivedAt"`
	CE              *CloudEvent         `json:"ce,omitempty"` // of a call that is one
	Payload         json.RawMessage     `json:"payload,omitempty"`
	AppendPayload   Encoder             `json:"-" written:"payload"` // in place of Payload
	PayloadType     PayloadType         `json:"payloadType"`
	PayloadEncoding Encoding            `json:"payloadEncoding"`
	ContentType     string              `json:"contentType"`
	Method          string              `json:"method"`
	Path            string              `json:"path,omitempty"` // that stood behind the token, as it came
	Query           map[string][]string `json:"query"`
	Headers         Headers             `json:"headers"`
	RemoteAddr      string              `json:"remoteAddr"`
}

// Replay returns an event that repeats this one, for one pipeline; or for all that listen now if
// pipeline is "". The correlation id is that of this event. A replay counts as a hop, so a run that
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
	repeated.Fingerprint, repeated.BodyHash, repeated.Due = nil, "", time.Time{} // the repetition is wanted
	return &repeated, nil
}

// OwnEvent returns an event of the service itself. Another one with its key and id is not stored, as
// another node or an earlier process may send it too.
func OwnEvent(namespace, eventKey, id string, payload []byte, now time.Time) *Event {
	e := &Event{
		EventKey: eventKey, Namespace: namespace, TraceID: NewTraceID(DirectCall, now), ReceivedAt: now,
		Payload: payload, PayloadType: Raw, PayloadEncoding: EncodingJSON, ContentType: "application/json",
	}
	e.SetFingerprint(nil, eventKey, id, payload, SendWindow)
	return e
}

// AppendJSON appends the event's JSON. It is on the path of every call.
func (e *Event) AppendJSON(b []byte) []byte { return value.AppendRecord(b, e) }

// An Encoder appends a payload that is encoded where it is stored.
type Encoder func(b []byte) []byte

// AppendJSON implements value.Appender.
func (e Encoder) AppendJSON(b []byte) []byte { return e(b) }

// Headers are the headers of a request, in the order of their names. Their JSON
// is an object.
type Headers []Header

// AppendJSON implements value.Appender.
func (h Headers) AppendJSON(b []byte) []byte {
	b = append(b, '{')
	for i := range h {
		if i > 0 {
			b = append(b, ',')
		}
		b = value.AppendString(append(value.AppendString(b, h[i].Name), ':'), h[i].Value)
	}
	return append(b, '}')
}

// A Header is one header of a request: its name in lower case, and its value,
// several joined by a comma.
type Header struct{ Name, Value string }

// Get returns the value of a header, "" if there is none.
func (h Headers) Get(name string) string {
	for i := range h {
		if strings.EqualFold(h[i].Name, name) {
			return h[i].Value
		}
	}
	return ""
}

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

// A CloudEvent has the attributes of an event in the format of the CNCF.
type CloudEvent struct {
	ID      string `json:"id"`
	Source  string `json:"source"`
	Type    string `json:"type"`
	Subject string `json:"subject,omitempty"`
	Time    string `json:"time,omitempty"`
}
