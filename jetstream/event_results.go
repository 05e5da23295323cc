package jetstream

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/queue"
	"sluice/jetstream/spool"
	"sluice/jetstream/stream"
)

// Result implements sluice.Results.
func (s *Events) Result(ctx context.Context, correlationID string, wait time.Duration) (sluice.Result, error) {
	if err := s.host.Connected(); err != nil {
		return sluice.Result{}, err
	}
	e, err := s.find(ctx, correlationID)
	if errors.Is(err, errWaits) {
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
		return sluice.Processing("", correlationID, time.Now()), nil
	}
	if err != nil {
		return sluice.Result{}, err
	}
	if len(e.Listeners) == 0 {
		if time.Since(e.Received) > s.keep.resultAge {
			return sluice.Result{}, queue.Gone()
		}
		return sluice.Accepted(e.TraceID, correlationID, e.Received), nil
	}
	// Wait before looking, so that no later outcome is missed.
	caller := s.hub.Wait(e.TraceID)
	defer s.hub.Leave(e.TraceID, caller)
	outcomes := make(map[string]sluice.Outcome, len(e.Listeners))
	if err := s.look(ctx, e, outcomes); err != nil {
		return sluice.Result{}, err
	}
	if wait > 0 && len(outcomes) < len(e.Listeners) {
		if err := s.await(ctx, caller, e, outcomes, wait); err != nil {
			return sluice.Result{}, err
		}
	}
	result := sluice.Combine(e.Listeners, outcomes, e.TraceID, correlationID, e.Received)
	result.Listeners = e.Listeners
	return result, nil
}

// lookAgain is how often a waiting caller looks for outcomes from other nodes.
const lookAgain = time.Second

// await waits for the outcomes of an event. Another node may store one before it hears that
// somebody waits here, so await looks now and then.
func (s *Events) await(ctx context.Context, caller *queue.Waiter, e correlation.Envelope, outcomes map[string]sluice.Outcome, wait time.Duration) error {
	others := s.outcomes.Ask(e.TraceID, wait)
	for until := time.Now().Add(wait); len(outcomes) < len(e.Listeners) && ctx.Err() == nil; {
		left := time.Until(until)
		if left <= 0 {
			return nil
		}
		if others {
			if err := s.look(ctx, e, outcomes); err != nil {
				return err
			}
			left = min(left, lookAgain)
		}
		caller.Await(ctx, e.Sequence, e.Listeners, outcomes, left)
	}
	return nil
}

// look adds the stored outcomes of an event.
func (s *Events) look(ctx context.Context, e correlation.Envelope, outcomes map[string]sluice.Outcome) error {
	for _, name := range e.Listeners {
		if _, known := outcomes[name]; known {
			continue
		}
		outcome, err := s.queue.Outcome(ctx, e, name)
		if err != nil {
			return err
		}
		if outcome != nil {
			outcomes[name] = *outcome
		}
	}
	return nil
}

// find returns the envelope of the event that a correlation id leads to.
func (s *Events) find(ctx context.Context, correlationID string) (correlation.Envelope, error) {
	if r, ok := s.ids.ParseSpooled(correlationID); ok {
		return s.findSpooled(ctx, r)
	}
	reference, ok := s.ids.Parse(correlationID)
	if !ok {
		return correlation.Envelope{}, queue.Gone()
	}
	e, err := s.read(ctx, reference.Sequence)
	if err == nil && !s.ids.Fits(reference, e.TraceID) {
		return correlation.Envelope{}, queue.Gone()
	}
	return e, err
}

// errWaits is the error of a call that may wait in the spool of another node.
var errWaits = errors.New("the call may wait in a spool")

// findSpooled returns the envelope of the event that a spooled call's id leads to.
func (s *Events) findSpooled(ctx context.Context, r correlation.SpooledReference) (correlation.Envelope, error) {
	found, waits, err := spool.Find(ctx, s.stream, r)
	if err != nil {
		return correlation.Envelope{}, err
	}
	if waits && !s.host.SoleWriter {
		return correlation.Envelope{}, errWaits
	}
	for _, f := range found {
		e, err := s.read(ctx, f.Sequence)
		if err != nil {
			return e, err
		}
		if s.ids.FitsSpooled(r, cmp.Or(f.TraceID, e.TraceID)) {
			return e, nil
		}
	}
	return correlation.Envelope{}, queue.Gone()
}

// read returns the envelope of the event with a sequence.
func (s *Events) read(ctx context.Context, sequence uint64) (correlation.Envelope, error) {
	msg, err := s.stream.GetMsg(ctx, sequence)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return correlation.Envelope{}, s.missing(ctx, sequence)
	}
	if err != nil {
		return correlation.Envelope{}, stream.NoAnswer(err)
	}
	e, err := correlation.ReadEnvelope(msg)
	if err != nil {
		return correlation.Envelope{}, queue.Gone() // a message that is not an event has no result
	}
	if e.Foreign {
		e.Listeners = s.listeners.Takers(e)
	}
	return e, nil
}
