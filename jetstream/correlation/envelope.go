package correlation

import (
	"bytes"
	"encoding/json"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
)

// An Envelope is what the result of an event depends on.
type Envelope struct {
	Sequence  uint64
	Subject   string
	EventKey  string
	Key       string // of a message, if it is no event
	TraceID   string
	ReplayOf  string
	Received  time.Time
	Listeners []string

	Fingerprint *sluice.Fingerprint // of a call with an id; nil for others
}

// ReadEnvelope reads the fields of an event that stand before its payload: what
// follows may be megabytes.
func ReadEnvelope(msg *jetstream.RawStreamMsg) (Envelope, error) {
	e := Envelope{Sequence: msg.Sequence, Subject: msg.Subject}
	dec := json.NewDecoder(bytes.NewReader(msg.Data))
	if _, err := dec.Token(); err != nil {
		return e, err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return e, err
		}
		var target any
		switch name {
		case "eventKey":
			target = &e.EventKey
		case "key":
			target = &e.Key
		case "traceId":
			target = &e.TraceID
		case "replayOf":
			target = &e.ReplayOf
		case "listeners":
			target = &e.Listeners
		case "delivery":
			target = &e.Fingerprint
		case "receivedAt":
			err := dec.Decode(&e.Received)
			e.Received = sluice.MadeAt(e.TraceID, e.Received)
			return e, err
		default:
			target = new(json.RawMessage)
		}
		if err := dec.Decode(target); err != nil {
			return e, err
		}
	}
	return e, errors.New("an event has no time")
}
