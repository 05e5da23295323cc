package correlation

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
)

// An Envelope is what the result of an event depends on.
type Envelope struct {
	Sequence  uint64
	Subject   string
	EventKey  string
	Key       string // of a message, if it is no event
	TraceID   string
	Type      string
	Hops      int
	ReplayOf  string
	Origin    *sluice.Origin
	Due       time.Time
	Received  time.Time
	Listeners []string

	DeliveryID  string              // that its sender gave the call
	Fingerprint *sluice.Fingerprint // of a call with an id; nil for others
	BodyHash    string              // likewise; "" for calls that version 0.2.0 took

	// Foreign says that something was missing or wrong, and was made up: another
	// program has published the event.
	Foreign bool
}

// read reads fields up to the time, which is the last one before the payload.
func (e *Envelope) read(dec *json.Decoder) error {
	if start, err := dec.Token(); err != nil || start != json.Delim('{') {
		return errors.Join(errors.New("an event is an object"), err)
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		if err := dec.Decode(e.field(name)); err != nil {
			if _, broken := errors.AsType[*json.SyntaxError](err); broken || errors.Is(err, io.EOF) ||
				errors.Is(err, io.ErrUnexpectedEOF) {
				return err
			}
			e.Foreign = true // of another type: as if it were missing
		}
		if name == "receivedAt" && !e.Received.IsZero() {
			return nil
		}
	}
	return nil
}

// field returns where the field of a name is read to.
func (e *Envelope) field(name json.Token) any {
	switch name {
	case "eventKey":
		return &e.EventKey
	case "key":
		return &e.Key
	case "traceId":
		return &e.TraceID
	case "type":
		return &e.Type
	case "hops":
		return &e.Hops
	case "replayOf":
		return &e.ReplayOf
	case "origin":
		return &e.Origin
	case "listeners":
		return &e.Listeners
	case "deliveryId":
		return &e.DeliveryID
	case "delivery":
		return &e.Fingerprint
	case "bodyHash":
		return &e.BodyHash
	case "due":
		return &e.Due
	case "receivedAt":
		return &e.Received
	}
	return new(json.RawMessage)
}

// ReadEnvelope reads the fields of an event before its payload, which may be
// megabytes. It fails for what is no event at all.
func ReadEnvelope(msg *jetstream.RawStreamMsg) (Envelope, error) {
	e := Envelope{Sequence: msg.Sequence, Subject: msg.Subject}
	if err := e.read(json.NewDecoder(bytes.NewReader(msg.Data))); err != nil {
		return e, err
	}
	key, traceID := e.EventKey+e.Key, e.TraceID
	if !published(msg.Subject) && (e.Received.IsZero() || !sluice.ValidTraceID(traceID)) {
		return e, errors.New("it is no event") // such as a marker of a delivery
	}
	e.EventKey, e.Key = KeysOf(msg.Subject, e.EventKey, e.Key)
	if !sluice.ValidTraceID(traceID) {
		e.TraceID = sluice.ForeignTraceID(msg.Time, msg.Sequence)
	}
	if e.Received.IsZero() {
		e.Received = msg.Time.UTC()
		e.Foreign = true
	}
	e.Foreign = e.Foreign || e.TraceID != traceID || e.EventKey+e.Key != key
	e.Received = sluice.MadeAt(e.TraceID, e.Received)
	return e, nil
}

// published reports whether other programs may publish on a subject.
func published(subject string) bool {
	return strings.HasPrefix(subject, sluice.EventPrefix) || strings.HasPrefix(subject, stream.MessagePrefix)
}

// KeysOf returns the keys of what was published on a subject. Another program may have
// left them out, or written others.
func KeysOf(subject, eventKey, key string) (string, string) {
	if on, ok := strings.CutPrefix(subject, sluice.EventPrefix); ok {
		return on, ""
	}
	if on, ok := strings.CutPrefix(subject, stream.MessagePrefix); ok {
		return "", on
	}
	return eventKey, key
}
