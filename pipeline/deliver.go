package pipeline

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"

	"sluice"
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
	var next time.Time
	out, err := r.deliverOnce(ctx, p, program, d, number, func(err error) time.Time {
		if !noAttempt(ctx, err) {
			next = program.retry.next(number, first, err)
		}
		return next
	})
	switch {
	case err == nil:
		return r.succeeded(p, d, number, out), nil
	case noAttempt(ctx, err):
		return sluice.Outcome{}, giveBack(ctx, err)
	case next.IsZero():
		return r.failed(p, d, number, err), nil
	}
	return sluice.Outcome{Pipeline: p.Name, Status: sluice.StatusProcessing, Attempts: number, Next: next}, nil
}

// longestGiveBack is how long a run without memory waits before its event is
// given back.
const longestGiveBack = time.Second

// next returns when to try once more after a number of attempts, the last of which
// failed with err; zero: not at all.
func (p retryPolicy) next(attempts int, first time.Time, err error) time.Time {
	next := time.Now().Add(p.pause(attempts, sluice.AsError(err).RetryAfter))
	if attempts > p.times || !worthRetrying(err) || next.Sub(first) > p.within {
		return time.Time{}
	}
	return next
}

// noAttempt reports whether an event is given back after an error that is no fault of
// the pipeline.
func noAttempt(ctx context.Context, err error) bool {
	return ctx.Err() != nil || sluice.EngineAway(err) || sluice.CodeNoRunMemory.Is(err)
}

// giveBack returns the error with which an event is given back, for want of memory only
// after a while.
func giveBack(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case sluice.CodeNoRunMemory.Is(err): // runs that lack memory together must not come again together
		return errors.Join(err, pause(ctx, rand.N(longestGiveBack)))
	}
	return err
}

// pause returns how long to wait after an attempt that failed. A part of it is
// random, so that events that failed together don't come again together. An
// answer may ask for longer.
func (p retryPolicy) pause(attempt int, asked time.Duration) time.Duration {
	const jitter = 4 // one part of so many
	wait := p.backoff
	for i := 1; i < attempt && wait < p.maxBackoff; i++ {
		wait *= 2
	}
	if wait >= p.maxBackoff {
		wait = p.maxBackoff - rand.N(p.maxBackoff/jitter)
	} else {
		wait = min(wait+rand.N(wait/jitter), p.maxBackoff)
	}
	return max(wait, min(asked, p.maxBackoff))
}

// worthRetrying reports whether another attempt may end better: not after a
// refusal, unless it is one for the moment, and not after a loop.
func worthRetrying(err error) bool {
	switch status := problem.Status(err); status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	case http.StatusLoopDetected:
		return false
	default:
		return status < http.StatusBadRequest || status >= http.StatusInternalServerError
	}
}

// deliverOnce makes one attempt, as soon as there is a free slot.
func (r *Runner) deliverOnce(ctx context.Context, p *sluice.Pipeline, program *Program, d sluice.Delivery, number int, again func(error) time.Time) (any, error) {
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	user, err := r.User(ctx, sluice.AnonymousName)
	if err != nil {
		again(err)
		return nil, err
	}
	run := &sluice.Run{
		Pipeline:      p.Name,
		TraceID:       d.TraceID,
		CorrelationID: d.CorrelationID,
		Hops:          d.Hops,
		Event:         d.Message,
		Owner:         r.owner(p),
		OwnerName:     p.Owner,
	}
	user.Address, _ = d.Message["remoteAddr"].(string)
	run.Switch(user)
	return r.attempt(ctx, program, beginning{run: run, body: d.Message, request: requestOf(d, number), counted: true, again: again}, number, d.Count)
}

// requestOf returns what expressions see of the call that led to an event.
func requestOf(d sluice.Delivery, attempt int) map[string]any {
	return map[string]any{
		"traceId":       d.TraceID,
		"correlationId": d.Message["correlationId"],
		"deliveryCount": d.Count,
		"attempt":       attempt,
		"method":        d.Message["method"],
		"query":         d.Message["query"],
		"headers":       d.Message["headers"],
	}
}

func (r *Runner) succeeded(p *sluice.Pipeline, d sluice.Delivery, attempts int, out any) sluice.Outcome {
	value, err := r.Limits.encode(out)
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
