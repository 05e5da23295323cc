package sluice

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// EventSubject is the prefix of the key under which an event is forwarded as
// a message.
const EventSubject = "svc.event."

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

// An Event is one accepted call as its consumers see it. The same JSON is
// stored, given to pipelines, and read by subscribers of the message key.
type Event struct {
	EventKey        string              `json:"eventKey"`
	Namespace       string              `json:"namespace"`
	TraceID         string              `json:"traceId"`
	ReceivedAt      time.Time           `json:"receivedAt"`
	Payload         json.RawMessage     `json:"payload,omitempty"`
	PayloadType     PayloadType         `json:"payloadType"`
	PayloadEncoding Encoding            `json:"payloadEncoding"`
	ContentType     string              `json:"contentType"`
	Method          string              `json:"method"`
	Query           map[string][]string `json:"query"`
	Headers         Headers             `json:"headers"`
	RemoteAddr      string              `json:"remoteAddr"`
}

// AppendJSON appends the event's JSON. It writes what encoding/json would
// decode into the same event, without the cost of reflection: this is on the
// path of every call.
func (e *Event) AppendJSON(b []byte) []byte {
	b = appendField(b, `{"eventKey":`, e.EventKey)
	b = appendField(b, `,"namespace":`, e.Namespace)
	b = appendField(b, `,"traceId":`, e.TraceID)
	b = append(b, `,"receivedAt":"`...)
	b = e.ReceivedAt.UTC().AppendFormat(b, time.RFC3339Nano)
	b = append(b, '"')
	if e.Payload != nil {
		b = append(b, `,"payload":`...)
		b = append(b, e.Payload...)
	}
	b = appendField(b, `,"payloadType":`, string(e.PayloadType))
	b = appendField(b, `,"payloadEncoding":`, string(e.PayloadEncoding))
	b = appendField(b, `,"contentType":`, e.ContentType)
	b = appendField(b, `,"method":`, e.Method)
	b = append(b, `,"query":{`...)
	if len(e.Query) > 0 { // sorting nothing is not for free
		b = appendQuery(b, e.Query)
	}
	b = append(b, `},"headers":{`...)
	for i, h := range e.Headers {
		b = appendKey(b, i, h.Name)
		b = AppendJSONString(b, h.Value)
	}
	b = appendField(b, `},"remoteAddr":`, e.RemoteAddr)
	return append(b, '}')
}

func appendQuery(b []byte, query map[string][]string) []byte {
	for i, name := range slices.Sorted(maps.Keys(query)) {
		b = appendKey(b, i, name)
		b = append(b, '[')
		for j, value := range query[name] {
			if j > 0 {
				b = append(b, ',')
			}
			b = AppendJSONString(b, value)
		}
		b = append(b, ']')
	}
	return b
}

func appendField(b []byte, name, value string) []byte {
	b = append(b, name...)
	return AppendJSONString(b, value)
}

func appendKey(b []byte, i int, name string) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	b = AppendJSONString(b, name)
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

// Events takes events to stable storage.
type Events interface {
	// Accept returns once the event is on stable storage, with the
	// correlation id under which its result is found. An error of kind
	// Unavailable means that the event may or may not have been stored.
	Accept(ctx context.Context, e *Event) (correlationID string, err error)
}
