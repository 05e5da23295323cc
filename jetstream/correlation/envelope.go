package correlation

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
)

// An Envelope is what the result of an event depends on.
type Envelope struct {
	Sequence  uint64         `json:"-"`
	Subject   string         `json:"-"`
	EventKey  string         `json:"eventKey"`
	Key       string         `json:"key"` // of a message, if it is no event
	TraceID   string         `json:"traceId"`
	Type      string         `json:"type"`
	Hops      int            `json:"hops"`
	ReplayOf  string         `json:"replayOf"`
	Origin    *sluice.Origin `json:"origin"`
	Due       time.Time      `json:"due"`
	Received  time.Time      `json:"receivedAt"`
	Listeners []string       `json:"listeners"`
	Batch     *sluice.Item   `json:"batch"`
	Split     *sluice.Split  `json:"split"` // of a call that brought several events, which is no event itself

	DeliveryID  string              `json:"deliveryId"` // that its sender gave the call
	Fingerprint *sluice.Fingerprint `json:"delivery"`   // of a call with an id; nil for others
	BodyHash    string              `json:"bodyHash"`   // likewise; "" for calls that version 0.2.0 took

	// Foreign says that something was missing or wrong, and was made up: another
	// program has published the event.
	Foreign bool `json:"-"`
}

// read reads what stands before the payload. In an event of ours the time is the last of that.
func (e *Envelope) read(data []byte) error {
	head, _, found := bytes.Cut(data, []byte(`,"payload":`))
	if found && bytes.Contains(head, []byte(`"receivedAt":`)) {
		data = append(bytes.Clone(head), '}')
	}
	err := json.Unmarshal(data, e)
	_, broken := errors.AsType[*json.SyntaxError](err)
	if broken || !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		return errors.Join(errors.New("an event is an object"), err)
	}
	e.Foreign = err != nil // of another type: as if it were missing
	return nil
}

// ReadEnvelope reads the fields of an event before its payload, which may be
// megabytes. It fails for what is no event at all.
func ReadEnvelope(msg *jetstream.RawStreamMsg) (Envelope, error) {
	e := Envelope{Sequence: msg.Sequence, Subject: msg.Subject}
	if err := e.read(msg.Data); err != nil {
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
