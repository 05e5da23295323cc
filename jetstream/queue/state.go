package queue

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
	"sluice/value"
)

// A state is how far an event has come with a pipeline.
type state struct {
	Key      string        `json:"key,omitempty"`      // of the event; empty: the subject has it
	Attempts int           `json:"attempts"`           // that have failed
	Count    int           `json:"count"`              // of deliveries
	First    time.Time     `json:"first,omitzero"`     // when the first attempt began
	Due      time.Time     `json:"due"`                // when the next attempt is
	Told     time.Time     `json:"told,omitzero"`      // when that was told, by the same clock
	Code     string        `json:"code,omitempty"`     // of the last attempt's error
	Target   sluice.Target `json:"target,omitempty"`   // that the event waits for, and follows when it is back
	Answer   bool          `json:"answer,omitempty"`   // the event waits for an answer, or until it is due
	Group    uint64        `json:"group,omitempty"`    // the event is one with those that have the same number
	Came     time.Time     `json:"came,omitzero"`      // when such an event came
	Wait     time.Duration `json:"wait,omitempty"`     // for another one of its group
	AtMost   time.Duration `json:"atMost,omitempty"`   // after the first of its group
	Order    uint64        `json:"order,omitempty"`    // the event waits for those before it with this number
	Behind   uint64        `json:"behind,omitempty"`   // and for those up to this event, whenever they came
	Later    bool          `json:"later,omitempty"`    // the event finds its place among others when it is due
	EventKey string        `json:"eventKey,omitempty"` // of the call that became the event; empty for others
	Call     time.Time     `json:"call,omitzero"`      // when that call came
	Held     bool          `json:"held,omitempty"`     // the event is not here: it keeps its place
	Node     string        `json:"node,omitempty"`     // has claimed the event until it is due
	sequence uint64        // of the state itself
}

// retries reports whether the event waits for another attempt, or is in it.
func (s *state) retries() bool { return s.Attempts > 0 && !s.Answer }

// set stores the state of an event.
func (w *Waiting) set(ctx context.Context, binding, key string, s state) error {
	_, err := w.store(ctx, binding, key, &s, nil)
	return err
}

// store stores a state, if last is nil or the sequence of the newest one.
func (w *Waiting) store(ctx context.Context, binding, key string, s *state, last *uint64) (ok bool, err error) {
	subject := waitingSubject(binding, key, waitingState)
	if last != nil && s.Key != "" {
		last = new(uint64) // of another subject, see below: there is none yet with this one
	}
	if s.Key = ""; w.host.SoleWriter && !s.Held {
		subject, s.Key = stream.WaitingPrefix+binding+"."+waitingState, key
	}
	data, err := value.Marshal(s)
	if err != nil {
		return false, err
	}
	w.expect(binding)
	sequence, ok, err := w.replace(ctx, subject, data, last)
	if !ok {
		return false, err
	}
	if s.sequence = sequence; s.Key == "" {
		w.keepAt(binding+"."+key, sequence)
	}
	if w.host.SoleWriter {
		w.removeState(ctx, w.note(binding, key, w.onClock(*s, time.Time{})))
	}
	return true, nil
}

// replace stores something, if last is nil or the sequence of the newest one with that subject.
func (w *Waiting) replace(
	ctx context.Context, subject string, data []byte, last *uint64,
) (sequence uint64, ok bool, err error) {
	if w.host.SoleWriter || last == nil {
		sequence, err = w.stream.Write(ctx, subject, nil, data)
		return sequence, err == nil, err
	}
	msg := nats.NewMsg(subject)
	msg.Data = w.host.Seal(subject, data)
	ack, err := w.host.JS.PublishMsg(ctx, msg, jetstream.WithExpectLastSequencePerSubject(*last))
	if err != nil {
		if err = stream.NotTaken("what is known of an event", err); stream.WasConflict(err) {
			err = nil
		}
		return 0, false, err
	}
	return ack.Sequence, true, nil
}

// find returns the newest state of an event, nil if it does not wait.
func (w *Waiting) find(ctx context.Context, binding, key string) (*state, error) {
	if !w.may(binding) {
		return nil, nil
	}
	msg, err := w.newest(ctx, binding, key)
	if msg == nil || err != nil {
		return nil, err
	}
	var s state
	if err := json.Unmarshal(msg.Data, &s); err != nil {
		return nil, err
	}
	s = w.onClock(s, msg.Time)
	s.sequence = msg.Sequence
	return &s, nil
}

// newest reads the newest state of an event: that in the index, or that with the event's own subject.
func (w *Waiting) newest(ctx context.Context, binding, key string) (*jetstream.RawStreamMsg, error) {
	if w.host.SoleWriter {
		if err := w.ready(ctx); err != nil {
			return nil, err
		}
	}
	for known := w.stateAt(binding, key); known != 0; {
		msg, err := stream.Found(w.stream.GetMsg(ctx, known))
		last := known
		if known = w.stateAt(binding, key); known == last { // otherwise it was replaced a moment ago
			return msg, err
		}
	}
	return stream.Found(w.stream.GetLastMsgForSubject(ctx, waitingSubject(binding, key, waitingState)))
}

// put stores the state of an event that comes to wait, and a copy of the event where others write: they may
// trim the stream of events.
func (w *Waiting) put(ctx context.Context, binding, key string, e event, s state) error {
	if !w.host.SoleWriter {
		if err := w.copy(ctx, binding, key, e); err != nil {
			return err
		}
	}
	return w.set(ctx, binding, key, s)
}

// sequenceOf returns the sequence of the event with a key, 0 if it is no key.
func sequenceOf(key string) uint64 {
	_, text, _ := strings.Cut(key, "-")
	sequence, _ := strconv.ParseUint(text, 36, 64)
	return sequence
}

// stream.WaitingPrefix comes before the binding, the event's key, and one of these. A state that has
// the key in it has none in its subject.
const (
	waitingEvent = "event"
	waitingState = "state"

	// The key of a step follows these.
	waitingKept  = "once."
	waitingWork  = "work."  // an item as it is offered
	waitingLease = "lease." // its progress
)

func waitingSubject(binding, key, kind string) string {
	return stream.WaitingPrefix + binding + "." + key + "." + kind
}

// waitingKey returns the binding and the event of a state.
func waitingKey(subject string, s state) (binding, key string, ok bool) {
	binding, rest, _ := strings.Cut(strings.TrimPrefix(subject, stream.WaitingPrefix), ".")
	if key = s.Key; key == "" {
		key, _, _ = strings.Cut(rest, ".")
	}
	return binding, key, sequenceOf(key) > 0
}
