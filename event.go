package sluice

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
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
	ReplayOf        string              `json:"replayOf,omitempty"`    // trace id of the event it repeats
	Admitted        bool                `json:"admitted,omitempty"`    // a user let it out of the quarantine
	DeliveryID      string              `json:"deliveryId,omitempty"`  // that the sender gave the call
	Fingerprint     *Fingerprint        `json:"delivery,omitempty"`    // by which a repeated call is found out
	Traceparent     string              `json:"traceparent,omitempty"` // of the work that it belongs to, see Spans
	ReceivedAt      time.Time           `json:"receivedAt"`
	CE              *CloudEvent         `json:"ce,omitempty"` // of a call that is one
	Payload         json.RawMessage     `json:"payload,omitempty"`
	PayloadType     PayloadType         `json:"payloadType"`
	PayloadEncoding Encoding            `json:"payloadEncoding"`
	ContentType     string              `json:"contentType"`
	Method          string              `json:"method"`
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

// Replay returns an event that repeats this one, for all pipelines that listen
// now or for one alone. A run that replays what started it is a loop as any other.
func (e *Event) Replay(ctx context.Context, pipeline string) (*Event, error) {
	hops, err := NextHop(ctx)
	if err != nil {
		return nil, err
	}
	repeated := *e
	repeated.ReplayOf = e.TraceID
	repeated.TraceID = NewTraceID(TraceOwner(e.TraceID), time.Now())
	repeated.Hops, repeated.Listeners, repeated.To = hops, nil, pipeline
	repeated.Fingerprint = nil // it is meant to be there twice
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
		b = append(b, `,"hops":`...)
		b = strconv.AppendInt(b, int64(e.Hops), 10)
	}
	if len(e.Listeners) > 0 {
		b = append(b, `,"listeners":`...)
		b = appendStrings(b, e.Listeners)
	}
	if e.To != "" {
		b = appendField(b, `,"to":`, e.To)
	}
	if e.ReplayOf != "" {
		b = appendField(b, `,"replayOf":`, e.ReplayOf)
	}
	if e.Admitted {
		b = append(b, `,"admitted":true`...)
	}
	b = appendOptional(b, `,"deliveryId":`, e.DeliveryID)
	if e.Fingerprint != nil {
		b = append(b, `,"delivery":`...)
		b = e.Fingerprint.appendJSON(b)
	}
	if e.Traceparent != "" {
		b = appendField(b, `,"traceparent":`, e.Traceparent)
	}
	b = append(b, `,"receivedAt":"`...)
	b = e.ReceivedAt.UTC().AppendFormat(b, time.RFC3339Nano)
	b = append(b, '"')
	if e.CE != nil {
		b = e.CE.appendJSON(b)
	}
	if e.Payload != nil {
		b = append(b, `,"payload":`...)
		b = append(b, e.Payload...)
	}
	b = appendField(b, `,"payloadType":`, string(e.PayloadType))
	b = appendField(b, `,"payloadEncoding":`, string(e.PayloadEncoding))
	b = appendField(b, `,"contentType":`, e.ContentType)
	b = appendField(b, `,"method":`, e.Method)
	b = append(b, `,"query":{`...)
	if len(e.Query) > 0 { // sorting nothing is not free
		b = appendQuery(b, e.Query)
	}
	b = append(b, `},"headers":{`...)
	for i, h := range e.Headers {
		b = appendKey(b, i, h.Name)
		b = value.AppendString(b, h.Value)
	}
	b = appendField(b, `},"remoteAddr":`, e.RemoteAddr)
	return append(b, '}')
}

func appendQuery(b []byte, query map[string][]string) []byte {
	for i, name := range slices.Sorted(maps.Keys(query)) {
		b = appendKey(b, i, name)
		b = appendStrings(b, query[name])
	}
	return b
}

func appendStrings(b []byte, texts []string) []byte {
	b = append(b, '[')
	for i, text := range texts {
		if i > 0 {
			b = append(b, ',')
		}
		b = value.AppendString(b, text)
	}
	return append(b, ']')
}

func appendField(b []byte, name, text string) []byte {
	b = append(b, name...)
	return value.AppendString(b, text)
}

func appendKey(b []byte, i int, name string) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	b = value.AppendString(b, name)
	return append(b, ':')
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
	// Accept stores an event, with the names of the pipelines that listen to
	// it, and waits for their outcomes, at most that long. It returns
	// once the event is on stable storage, with the result as it is then and
	// the listeners in it; the event itself stays as it is. An
	// error of kind Unavailable means that the event may or may not have been
	// stored.
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
