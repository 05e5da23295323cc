package queue

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice"
	"sluice/jetstream/stream"
	"sluice/value"
)

// A state is how far an event has come with a pipeline.
type state struct {
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
	data, err := value.Marshal(s)
	if err != nil {
		return err
	}
	w.expect(binding)
	_, err = w.stream.Write(ctx, waitingSubject(binding, key, waitingState), nil, data)
	return err
}

// find returns the newest state of an event, nil if it does not wait.
func (w *Waiting) find(ctx context.Context, binding, key string) (*state, error) {
	if !w.may(binding) {
		return nil, nil
	}
	msg, err := stream.Found(w.stream.GetLastMsgForSubject(ctx, waitingSubject(binding, key, waitingState)))
	if msg == nil || err != nil {
		return nil, err
	}
	s := new(state)
	if err := json.Unmarshal(msg.Data, s); err != nil {
		return nil, err
	}
	s.sequence, s.Due = msg.Sequence, w.onClock(*s, msg.Time)
	return s, nil
}

// put stores an event and its state.
func (w *Waiting) put(ctx context.Context, binding, key string, e event, s state) error {
	head, err := value.Marshal(e.origin)
	if err != nil {
		return err
	}
	copied := slices.Concat(head, []byte("\n"), e.data)
	if _, err := w.stream.Write(ctx, waitingSubject(binding, key, waitingEvent), nil, copied); err != nil {
		return err
	}
	return w.set(ctx, binding, key, s)
}

// event returns the copy of an event that waits, nil if it is gone.
func (w *Waiting) event(ctx context.Context, binding, key string) (*event, error) {
	msg, err := stream.Found(w.stream.GetLastMsgForSubject(ctx, waitingSubject(binding, key, waitingEvent)))
	if msg == nil || err != nil {
		return nil, err
	}
	head, data, _ := bytes.Cut(msg.Data, []byte("\n"))
	e := &event{sequence: sequenceOf(key), data: data}
	return e, json.Unmarshal(head, &e.origin)
}

// sequenceOf returns the sequence of the event with a key, 0 if it is no key.
func sequenceOf(key string) uint64 {
	_, text, _ := strings.Cut(key, "-")
	sequence, _ := strconv.ParseUint(text, 36, 64)
	return sequence
}

// stream.WaitingPrefix comes before the binding, the event's key, and one of these.
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

func waitingKey(subject string) (binding, key string, ok bool) {
	parts := strings.Split(strings.TrimPrefix(subject, stream.WaitingPrefix), ".")
	if len(parts) < 3 {
		return "", "", false
	}
	return parts[0], parts[1], sequenceOf(parts[1]) > 0
}
