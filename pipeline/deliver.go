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

// deliver runs a pipeline for an event, retries it with a growing pause as its
// retry section says, and returns the outcome. An error means that the server
// stops, or that the engine is away: there is no outcome, and the queue delivers
// the event again later.
func (r *Runner) deliver(ctx context.Context, p *sluice.Pipeline, d sluice.Delivery) (sluice.Outcome, error) {
	program, err := r.program(p)
	if err != nil {
		return r.failed(p, d, 1, err), nil
	}
	backoff := program.backoff
	for number := 1; ; number++ {
		out, err := r.deliverOnce(ctx, p, program, d, number)
		if err == nil {
			return r.succeeded(p, d, number, out), nil
		}
		if ctx.Err() != nil {
			return sluice.Outcome{}, ctx.Err()
		}
		if sluice.EngineAway(err) {
			return sluice.Outcome{}, err // that is no attempt
		}
		if sluice.AsError(err).Code == codeNoMemory {
			// It is no fault of the pipeline. Runs that lack memory together
			// must not come again together.
			return sluice.Outcome{}, errors.Join(err, pause(ctx, rand.N(longestGiveBack)))
		}
		if number > program.retries || !worthRetrying(err) {
			return r.failed(p, d, number, err), nil
		}
		if err := pause(ctx, backoff); err != nil {
			return sluice.Outcome{}, err
		}
		backoff = min(2*backoff, maxBackoff)
	}
}

// longestGiveBack is how long a run without memory waits before its event is
// given back.
const longestGiveBack = time.Second

// worthRetrying reports whether another attempt may end better: not after a
// refusal.
func worthRetrying(err error) bool {
	status := problem.Status(err)
	return status < http.StatusBadRequest || status >= http.StatusInternalServerError
}

// deliverOnce makes one attempt, as soon as there is a free slot. The pause
// between attempts takes none.
func (r *Runner) deliverOnce(ctx context.Context, p *sluice.Pipeline, program *Program, d sluice.Delivery, number int) (any, error) {
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	user, err := r.User(ctx, sluice.AnonymousName)
	if err != nil {
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
	return r.attempt(ctx, program, beginning{run: run, body: d.Message, request: requestOf(d, number), counted: true}, number, d.Count)
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
		Attempts:   attempts,
		Finished:   time.Now().UTC(),
	}
}
