package jetstream

import (
	"context"
	"errors"
	"time"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/queue"
	"sluice/wait"
)

// Result implements sluice.Results.
func (s *Events) Result(
	ctx context.Context, correlationID string, longest time.Duration,
) (result sluice.Result, err error) {
	if err := s.host.Connected(); err != nil {
		return result, err
	}
	e, err := s.find(ctx, correlationID)
	if errors.Is(err, errWaits) {
		_ = wait.For(ctx, longest)
		return sluice.Processing("", correlationID, time.Now()), nil
	}
	if err != nil {
		return result, err
	}
	if len(e.Listeners) == 0 {
		if time.Since(e.Received) > s.opts.ResultTTL {
			return result, queue.Gone()
		}
		result = sluice.Accepted(e.TraceID, correlationID, e.Received)
		if e.Split != nil {
			result = e.Split.Result(result)
		}
		return result, nil
	}
	// Wait before looking, so that no later outcome is missed.
	caller := s.Queue.Hub.Wait(e.TraceID)
	defer s.Queue.Hub.Leave(e.TraceID, caller)
	outcomes := make(map[string]sluice.Outcome, len(e.Listeners))
	if err := s.look(ctx, e, outcomes); err != nil {
		return result, err
	}
	if longest > 0 && len(outcomes) < len(e.Listeners) {
		if err := s.await(ctx, caller, e, outcomes, longest); err != nil {
			return result, err
		}
	}
	result = sluice.Combine(e.Listeners, outcomes, e.TraceID, correlationID, e.Received)
	result.Listeners = e.Listeners
	return result, nil
}

// lookEvery is how often a waiting caller looks for outcomes from other nodes.
const lookEvery = time.Second

// await waits for the outcomes of an event. Another node may store one before it hears that
// somebody waits here, so await looks now and then.
func (s *Events) await(
	ctx context.Context, caller *queue.Waiter, e correlation.Envelope, outcomes map[string]sluice.Outcome,
	wait time.Duration,
) error {
	others := s.Queue.Outcomes.Ask(e.TraceID, wait)
	for until := time.Now().Add(wait); len(outcomes) < len(e.Listeners) && ctx.Err() == nil; {
		left := time.Until(until)
		if left <= 0 {
			return nil
		}
		if others {
			if err := s.look(ctx, e, outcomes); err != nil {
				return err
			}
			left = min(left, lookEvery)
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
		outcome, err := s.Queue.Outcome(ctx, e, name)
		if err != nil {
			return err
		}
		if outcome != nil {
			outcomes[name] = *outcome
		}
	}
	return nil
}
