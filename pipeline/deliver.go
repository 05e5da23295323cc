package pipeline

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"

	"sluice"
	"sluice/pipeline/run"
	"sluice/pipeline/source"
	"sluice/problem"
)

// deliver makes an attempt to run a pipeline for an event, and returns the outcome:
// where it failed and the retry section of the source says so, that another one
// is due. An error means that the server stops, or that the engine is away: that
// was no attempt, and the queue delivers the event again later.
func (r *Runner) deliver(ctx context.Context, p *sluice.Pipeline, d sluice.Delivery) (sluice.Outcome, error) {
	number, first := d.Attempts+1, d.First
	if first.IsZero() {
		first = time.Now()
	}
	program, err := r.program(p)
	if err != nil {
		return r.failed(p, d, number, err), nil
	}
	out, err := r.deliverOnce(ctx, p, program, d, number)
	if err == nil {
		r.observed(out, time.Time{})
		return r.succeeded(p, d, number, out.Body), nil
	}
	if noAttempt(ctx, err) {
		r.observed(out, time.Time{})
		return sluice.Outcome{}, giveBack(ctx, err)
	}
	next, again := retryPolicy{program.Retry, rand.N[time.Duration]}.next(time.Now(), number, first, err)
	r.observed(out, next)
	if !again {
		return r.failed(p, d, number, err), nil
	}
	return sluice.Outcome{Pipeline: p.Name, Status: sluice.StatusProcessing, Attempts: number, Next: next}, nil
}

// longestGiveBack is how long a run without memory waits before its event is
// given back.
const longestGiveBack = time.Second

// noAttempt reports whether an event is given back after an error that is no fault of
// the pipeline.
func noAttempt(ctx context.Context, err error) bool {
	return ctx.Err() != nil || sluice.EngineAway(err) || sluice.AsError(err).Code == run.CodeNoMemory
}

// giveBack returns the error with which an event is given back, for want of memory only
// after a while.
func giveBack(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case sluice.AsError(err).Code == run.CodeNoMemory: // runs that lack memory together must not come again together
		return errors.Join(err, pause(ctx, rand.N(longestGiveBack)))
	}
	return err
}

// deliverOnce makes one attempt, as soon as there is a free slot.
func (r *Runner) deliverOnce(ctx context.Context, p *sluice.Pipeline, program *source.Program, d sluice.Delivery, number int) (run.Outcome, error) {
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return run.Outcome{}, ctx.Err()
	}
	user, err := r.User(ctx, sluice.AnonymousName)
	if err != nil {
		return run.Outcome{}, err
	}
	user.Address, _ = d.Message["remoteAddr"].(string)
	start := run.Start{
		Run: &sluice.Run{
			Pipeline:      p.Name,
			TraceID:       d.TraceID,
			CorrelationID: d.CorrelationID,
			Hops:          d.Hops,
			Event:         d.Message,
			Owner:         r.owner(p),
			OwnerName:     p.Owner,
		},
		Body:     d.Message,
		Request:  run.RequestOf(d, number),
		Counted:  true,
		Attempt:  number,
		Delivery: d.Count,
	}
	start.Run.Switch(user)
	return r.attempt(ctx, program, start)
}

func (r *Runner) succeeded(p *sluice.Pipeline, d sluice.Delivery, attempts int, out any) sluice.Outcome {
	value, err := r.Limits.Encode(out)
	if err != nil {
		return r.failed(p, d, attempts, err)
	}
	return sluice.Outcome{
		Pipeline:   p.Name,
		Status:     sluice.StatusOK,
		StatusCode: http.StatusOK,
		Value:      value,
		Attempts:   attempts,
		Finished:   time.Now().UTC(),
	}
}

func (r *Runner) failed(p *sluice.Pipeline, d sluice.Delivery, attempts int, err error) sluice.Outcome {
	e := sluice.AsError(err).InCall(d.TraceID)
	r.Log.Warn("A pipeline failed.", "pipeline", p.Name, "traceId", d.TraceID, "attempts", attempts, "code", e.Code, "error", e.Error())
	shown := problem.Of(e)
	return sluice.Outcome{
		Pipeline:   p.Name,
		Status:     sluice.StatusError,
		StatusCode: shown.StatusCode,
		Error:      shown,
		Said:       e.Said,
		Attempts:   attempts,
		Finished:   time.Now().UTC(),
	}
}
