package pipeline

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"time"

	"sluice"
	"sluice/pipeline/run"
	"sluice/pipeline/source"
)

type runParams struct {
	Name   string         `json:"name" audit:"yes" names:"pipeline" doc:"The stored pipeline to run. Give this or source."`
	Source string         `json:"source" doc:"The source of a pipeline to run without storing it, as YAML or JSON."`
	Vars   map[string]any `json:"vars" doc:"Variables that the run starts with; they override those of the source."`
	Body   any            `json:"body" body:"only" doc:"The body that the run starts with. Without one it is that of the source."`
}

// direct runs a pipeline for a caller, or for the run of another pipeline.
func (r *Runner) direct(ctx context.Context, p runParams) (any, error) {
	if (p.Name == "") == (p.Source == "") {
		return nil, sluice.InvalidParameter("name", "Give either name, for a stored pipeline, or source, for one "+
			"that is not; not both. Over HTTP they belong in the query: the body is that of the run.")
	}
	hops, err := sluice.NextHop(ctx)
	if err != nil {
		return nil, err
	}
	this := &sluice.Run{Pipeline: p.Name, Hops: hops}
	program, err := r.lookUp(ctx, p, this)
	if err != nil {
		return nil, err
	}
	owner, err := orNobody(this.Owner(ctx))
	if err != nil {
		return nil, err
	}
	if outer := sluice.RunFrom(ctx); outer != nil {
		// Whoever may change the inner pipeline must not gain the rights of the outer one's user.
		this.Bind(owner)
		this.Within(outer)
		this.Caller, this.TraceID, this.CorrelationID = outer.Caller, outer.TraceID, outer.CorrelationID
		this.Event, this.Recorded, this.Above = outer.Event, outer.Recorded, outer.Place()
		this.Kept = outer.Kept
	} else {
		this.Caller, this.TraceID = sluice.UserFrom(ctx).Name, sluice.NewTraceID(sluice.DirectCall, time.Now())
		release, err := r.slot()
		if err != nil {
			return nil, err
		}
		defer release()
	}
	if this.Switch(sluice.UserFrom(ctx)); p.Name != "" {
		this.Confine(owner)
	}
	request := map[string]any{
		"traceId": this.TraceID, "correlationId": this.CorrelationID, "deliveryCount": 0, "attempt": 1,
	}
	maps.Copy(request, sluice.RequestFrom(ctx))
	out, err := r.attempt(ctx, program, run.Start{Run: this, Body: p.Body, Vars: p.Vars, Request: request, Attempt: 1})
	sluice.RunFrom(ctx).NoteSent(this.Sent()...)
	r.observed(out, time.Time{})
	if sluice.RunFrom(ctx) == nil {
		r.noteRun(ctx, "pipeline.run", cmp.Or(p.Name, hashOf(p.Source)), this.TraceID, err)
	}
	return out.Body, err
}

// noteRun enters in the audit log that a user has run something.
func (r *Runner) noteRun(ctx context.Context, command, target, traceID string, err error) {
	user := sluice.UserFrom(ctx)
	e := sluice.AuditEntry{
		Username: user.Name, Address: user.Address, Command: command, Target: target, TraceID: traceID,
		Outcome: sluice.AuditAllowed, Access: true,
	}
	if err != nil {
		e.Outcome, e.Code = sluice.AuditFailed, sluice.AsError(err).Code
	}
	r.Note(ctx, e)
}

// hashOf names a source that is not stored.
func hashOf(source string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(source))) }

// slot takes a slot for a run, if one is free.
func (r *Runner) slot() (release func(), err error) {
	select {
	case r.slots <- struct{}{}:
		return func() { <-r.slots }, nil
	default:
		return nil, sluice.CodeTooManyRuns.Errorf(
			"%d pipelines are running, more are not started; try again in a moment.", cap(r.slots)).After(time.Second)
	}
}

// lookUp returns the program to run, and sets the owner of the run.
func (r *Runner) lookUp(ctx context.Context, p runParams, run *sluice.Run) (*source.Program, error) {
	if p.Name == "" {
		caller := sluice.UserFrom(ctx)
		run.OwnerName = caller.Name
		run.Owner = func(context.Context) (sluice.User, error) { return caller, nil }
		return r.parse(ctx, p.Source)
	}
	stored, err := r.find(ctx, p.Name)
	if err != nil {
		return nil, err
	}
	run.Owner, run.OwnerName = r.owner(stored), stored.Owner
	return r.program(stored)
}
