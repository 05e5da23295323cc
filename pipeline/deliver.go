package pipeline

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"sluice"
	"sluice/expression"
	"sluice/limit"
	"sluice/pipeline/run"
	"sluice/pipeline/source"
	"sluice/problem"
)

// deliver makes an attempt to run a pipeline for an event and returns its outcome. If
// the attempt fails and the source asks for retries, the outcome says when the next one
// is due. An error means that there was no attempt, because the server stops or the
// engine is away; then the queue delivers the event again later.
func (r *Runner) deliver(ctx context.Context, p *sluice.Pipeline, d sluice.Delivery) (sluice.Outcome, error) {
	if d.Message["except"] == p.Name { // such as an alert about itself
		return r.succeeded(p, d, nil), nil
	}
	program, err := r.program(p)
	if err != nil {
		return r.failed(p, d, err), nil
	}
	owner, hears, err := r.mayHear(ctx, p, program, d.Message)
	owner.HintCover("pipeline.get").HideInternals(d.Message)
	switch {
	case err != nil && noAttempt(ctx, err):
		return sluice.Outcome{}, cmp.Or(ctx.Err(), err)
	case err != nil:
		return r.failed(p, d, err), nil
	case !hears:
		return r.succeeded(p, d, nil), nil
	case d.Peek:
		if wants, err := r.wants(ctx, p, program, d.Message, maxPeek); wants || err != nil {
			return sluice.Outcome{}, nil //nolint:nilerr // the run fails likewise, or has more memory
		}
		return r.passed(p), nil
	}
	if _, err := r.placeOf(ctx, p, program, d); err != nil {
		wants, whereErr := r.wants(ctx, p, program, d.Message, math.MaxInt64)
		switch {
		case noAttempt(ctx, whereErr):
			return sluice.Outcome{}, cmp.Or(ctx.Err(), whereErr)
		case !wants && whereErr == nil:
			return r.passed(p), nil
		}
		r.unrun(p, d, sluice.RunReport{Status: sluice.StatusError, Error: problem.Of(err)})
		return r.failed(p, d, err), nil
	}
	t, err := r.deliverOnce(ctx, p, owner, program, d)
	var o sluice.Outcome
	var waits *sluice.WaitsError
	switch {
	case err == nil && t.Passed:
		return r.passed(p), nil
	case errors.As(err, &waits):
		o = sluice.Outcome{
			Pipeline: p.Name, Status: sluice.StatusProcessing, Attempts: d.Attempts, Next: waits.Until,
			Answered: waits.Answered,
		}
	case err == nil:
		o = r.succeeded(p, d, t.Body)
	case noAttempt(ctx, err):
		return o, cmp.Or(ctx.Err(), err)
	case t.next.IsZero():
		o = r.failed(p, d, err)
	default:
		o = retried(p, program, d, t, err)
	}
	o.Reached, o.Sent = t.reached, t.Sent
	return o, nil
}

// retried returns the outcome of an attempt that failed and that another will follow.
func retried(p *sluice.Pipeline, program *source.Program, d sluice.Delivery, t tried, err error) sluice.Outcome {
	o := sluice.Outcome{
		Pipeline: p.Name, Status: sluice.StatusProcessing, Error: problem.Of(err), Attempts: d.Attempts,
		Next: t.next, Pause: program.Retry.Backoff,
	}
	if d.Due.IsZero() {
		o.Attempts++
	}
	if !program.Retry.Stays && targetAway(err) {
		o.Target = t.away
	}
	return o
}

// mayHear returns the owner of a pipeline, and whether the scopes of that user cover an event
// that starts it: they may have changed since it was stored. Of alerts it hears those about
// what they cover. An owner who is gone has no scopes.
func (r *Runner) mayHear(
	ctx context.Context, p *sluice.Pipeline, program *source.Program, message map[string]any,
) (owner sluice.User, hears bool, err error) {
	owner, err = orNobody(r.owner(p)(ctx))
	if err != nil || !owner.IsScoped() {
		return owner, err == nil, err
	}
	cover := owner.Cover(program.Trigger.Command)
	eventKey, _ := message["eventKey"].(string)
	if kind, isAlert := strings.CutPrefix(eventKey, sluice.AlertPrefix); isAlert {
		payload, _ := message["payload"].(map[string]any)
		subject, _ := payload["subject"].(string)
		return owner, cover.Alert(sluice.AlertKind(kind), subject), nil
	}
	key, _ := message["key"].(string)
	if !cover.Call(&sluice.Call{EventKey: eventKey, Key: key}) {
		return owner, false, sluice.CodeForbidden.Errorf("The event is outside of what the roles of %s, who "+
			"owns this pipeline, cover; let somebody whose roles cover it store the pipeline.", p.Owner)
	}
	return owner, true, nil
}

// noAttempt reports whether an error is no fault of the pipeline. Then the event goes
// back to the queue, or the run begins again when there is memory.
func noAttempt(ctx context.Context, err error) bool {
	return ctx.Err() != nil || sluice.EngineAway(err) || sluice.CodeNoRunMemory.Is(err)
}

// A tried is how an attempt went, and when the next one is, zero if there is none.
type tried struct {
	run.Outcome
	next    time.Time
	reached []sluice.Target
	away    sluice.Target // that its last call failed at
}

// deliverOnce makes one attempt as soon as a slot is free.
func (r *Runner) deliverOnce(
	ctx context.Context, p *sluice.Pipeline, owner sluice.User, program *source.Program, d sluice.Delivery,
) (t tried, err error) {
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return t, ctx.Err()
	}
	began := time.Now()
	start, err := r.startFor(ctx, p, owner, d)
	if err == nil {
		t.Outcome, err = r.attempt(ctx, program, start)
	}
	if d.First.IsZero() {
		d.First = began
	}
	switch {
	case sluice.CodeNoRunMemory.Is(err):
		t.next = time.Now() // see fed
	case err != nil && !noAttempt(ctx, err):
		t.next = retryPolicy{program.Retry, rand.N[time.Duration]}.next(time.Now(), d, err)
	}
	r.observed(t.Outcome, t.next)
	t.reached, t.away = start.Run.Reached()
	return t, err
}

// startFor returns the start of a run for an event.
func (r *Runner) startFor(
	ctx context.Context, p *sluice.Pipeline, owner sluice.User, d sluice.Delivery,
) (run.Start, error) {
	start := run.For(d, d.Attempts+1, &sluice.Run{Pipeline: p.Name, Owner: r.owner(p), OwnerName: p.Owner})
	start.Counted = true
	user, err := r.User(ctx, sluice.AnonymousName)
	user.Address, _ = d.Message["remoteAddr"].(string)
	start.Run.Switch(user)
	start.Run.Confine(owner)
	return start, err
}

// maxPeek is how many bytes a where may make before its event has a slot. One that makes more is
// decided in a run, so that the bounds of runs hold for it.
const maxPeek = 1 << 20

// wants reports whether a pipeline wants an event, by its where, before a run. Its where may make so
// many bytes. Without memory for them it can't tell, and its error is that of the limits.
func (r *Runner) wants(
	ctx context.Context, p *sluice.Pipeline, program *source.Program, event map[string]any, most int64,
) (wanted bool, err error) {
	var refused error
	limits := r.limits(ctx)
	scope := expression.Scope{Work: r.work(ctx, p)}
	if limits.Shared != nil {
		hold, made := limits.Shared.Hold(), int64(0)
		defer hold.Release()
		scope.Memory = func(bytes int) error {
			if made += int64(bytes); made <= most && hold.Try(made) == nil {
				return nil
			}
			refused = limits.Refusal()
			return refused
		}
	}
	wanted, err = program.Trigger.Wants(event, scope)
	return wanted, cmp.Or(refused, err)
}

// work returns the work of what a pipeline computes of an event before it runs.
func (r *Runner) work(ctx context.Context, p *sluice.Pipeline) *limit.Work {
	return r.Limits.Computing.Work(ctx, p.Owner, p.Name)
}

// passed returns the outcome of an event that a pipeline does not want.
func (r *Runner) passed(p *sluice.Pipeline) sluice.Outcome {
	r.Passed(p.Name)
	return sluice.Outcome{
		Pipeline: p.Name, Status: sluice.StatusPassed, StatusCode: http.StatusOK, Finished: time.Now().UTC(),
	}
}

func (r *Runner) succeeded(p *sluice.Pipeline, d sluice.Delivery, out any) sluice.Outcome {
	value, err := run.Encode(out)
	if err != nil {
		return r.failed(p, d, err)
	}
	return sluice.Outcome{
		Pipeline:   p.Name,
		Status:     sluice.StatusOK,
		StatusCode: http.StatusOK,
		Value:      value,
		Attempts:   d.Attempts + 1,
		Finished:   time.Now().UTC(),
	}
}

func (r *Runner) failed(p *sluice.Pipeline, d sluice.Delivery, err error) sluice.Outcome {
	e := sluice.AsError(err).InCall(d.TraceID)
	view := problem.Of(e)
	logged := *view
	logged.HideMessage()
	r.Log.Warn("A pipeline failed.", "pipeline", p.Name, "traceId", d.TraceID, "attempts", d.Attempts+1, "code", e.Code,
		"step", view.Step, "line", view.Line, "error", logged.Detail)
	return sluice.Outcome{
		Pipeline:   p.Name,
		Status:     sluice.StatusError,
		StatusCode: view.StatusCode,
		Error:      view,
		Said:       e.Said,
		Attempts:   d.Attempts + 1,
		Finished:   time.Now().UTC(),
	}
}
