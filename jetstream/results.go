package jetstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/problem"
)

// An envelope is what the result of an event depends on.
type envelope struct {
	sequence  uint64
	subject   string
	key       string // of the event, or of a message that is none
	traceID   string
	replayOf  string
	received  time.Time
	listeners []string
}

// Result implements sluice.Results.
func (s *Events) Result(ctx context.Context, correlationID string, wait time.Duration) (sluice.Result, error) {
	if err := s.engine.connected(); err != nil {
		return sluice.Result{}, err
	}
	e, err := s.find(ctx, correlationID)
	if err != nil {
		return sluice.Result{}, err
	}
	if len(e.listeners) == 0 {
		if time.Since(e.received) > s.engine.opts.ResultTTL {
			return sluice.Result{}, gone()
		}
		return sluice.Accepted(e.traceID, correlationID, e.received), nil
	}
	// Before looking: what comes in behind the look is not missed.
	caller := s.hub.wait(e.traceID)
	defer s.hub.leave(e.traceID, caller)
	outcomes := make(map[string]sluice.Outcome, len(e.listeners))
	for _, name := range e.listeners {
		outcome, err := s.outcome(ctx, e, name)
		if err != nil {
			return sluice.Result{}, err
		}
		if outcome != nil {
			outcomes[name] = *outcome
		}
	}
	if wait > 0 && !hasAll(outcomes, e.listeners) {
		caller.await(ctx, e.sequence, e.listeners, outcomes, wait)
	}
	return sluice.Combine(e.listeners, outcomes, e.traceID, correlationID, e.received), nil
}

// find gives the envelope of the event that a correlation id leads to.
func (s *Events) find(ctx context.Context, correlationID string) (envelope, error) {
	sequence, nonce, ok := s.ids.parse(correlationID)
	if !ok {
		return envelope{}, gone()
	}
	msg, err := s.stream.GetMsg(ctx, sequence)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return envelope{}, s.missing(ctx, sequence)
	}
	if err != nil {
		return envelope{}, noAnswer(err)
	}
	e, err := open(msg)
	if err != nil {
		return envelope{}, err
	}
	if s.ids.nonce(e.traceID) != nonce {
		return envelope{}, gone()
	}
	return e, nil
}

// open reads the fields of an event that stand before its payload: what follows
// may be megabytes.
func open(msg *jetstream.RawStreamMsg) (envelope, error) {
	e := envelope{sequence: msg.Sequence, subject: msg.Subject}
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
		case "eventKey", "key":
			target = &e.key
		case "traceId":
			target = &e.traceID
		case "replayOf":
			target = &e.replayOf
		case "listeners":
			target = &e.listeners
		case "receivedAt":
			err := dec.Decode(&e.received)
			e.received = sluice.MadeAt(e.traceID, e.received)
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

// outcome gives what a pipeline has made of an event: nil if it is not done yet,
// Gone if that has expired.
func (s *Events) outcome(ctx context.Context, e envelope, pipeline string) (*sluice.Outcome, error) {
	outcome, err := s.outcomes.get(ctx, e.sequence, e.traceID, pipeline)
	if outcome != nil || err != nil {
		return outcome, err
	}
	binding := s.listeners.binding(pipeline)
	if binding == nil || e.sequence < binding.Start || !reaches(binding, e.subject) {
		if time.Since(e.received) > s.engine.opts.ResultTTL {
			return nil, gone()
		}
		return abandoned(pipeline, e), nil
	}
	finished, err := s.finished(ctx, binding.ID, e.sequence)
	if err != nil || !finished {
		return nil, err
	}
	// It may have finished between the two looks.
	outcome, err = s.outcomes.get(ctx, e.sequence, e.traceID, pipeline)
	if outcome == nil && err == nil {
		err = gone()
	}
	return outcome, err
}

// reaches tells whether a binding takes events of a subject.
func reaches(binding *sluice.Binding, subject string) bool {
	if strings.HasPrefix(subject, directPrefix) {
		return subject == directPrefix+binding.ID
	}
	return sluice.KeyMatches(binding.Pattern, strings.TrimPrefix(subject, messagePrefix))
}

// abandoned is the outcome of an event whose pipeline was deleted, or listens to
// something else, before it ran.
func abandoned(pipeline string, e envelope) *sluice.Outcome {
	err := sluice.Errorf(sluice.Gone, "pipeline-gone", "The pipeline %s was deleted or listens to other events by now.", pipeline)
	shown := problem.Of(err.InCall(e.traceID))
	return &sluice.Outcome{Pipeline: pipeline, Status: sluice.StatusError, StatusCode: shown.Status, Error: shown, Finished: e.received}
}

func gone() error {
	return sluice.Errorf(sluice.Gone, "result-gone", "There is no result with this correlation id, or it has expired.")
}
