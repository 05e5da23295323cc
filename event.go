package sluice

import (
	"context"
	"encoding/json"
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
	Headers         map[string]string   `json:"headers"` // keys in lower case
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
	for i, name := range sortedKeys(e.Query) {
		b = appendKey(b, i, name)
		b = append(b, '[')
		for j, value := range e.Query[name] {
			if j > 0 {
				b = append(b, ',')
			}
			b = AppendJSONString(b, value)
		}
		b = append(b, ']')
	}
	b = append(b, `},"headers":{`...)
	for i, name := range sortedKeys(e.Headers) {
		b = appendKey(b, i, name)
		b = AppendJSONString(b, e.Headers[name])
	}
	b = appendField(b, `},"remoteAddr":`, e.RemoteAddr)
	return append(b, '}')
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

func sortedKeys[V any](m map[string]V) []string {
	if len(m) == 0 {
		return nil
	}
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Events takes events to stable storage.
type Events interface {
	// Accept returns once the event is on stable storage, with the
	// correlation id under which its result is found. An error of kind
	// Unavailable means that the event may or may not have been stored.
	Accept(ctx context.Context, e *Event) (correlationID string, err error)
}
