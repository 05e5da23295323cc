package pipeline

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"strings"
	"time"

	"sluice"
	"sluice/command"
	"sluice/pipeline/rehearse"
	"sluice/pipeline/run"
	"sluice/pipeline/source"
)

type runParams struct {
	Name   string         `json:"name" audit:"yes" names:"pipeline" doc:"The stored pipeline to run. Give this or source."`
	Source string         `json:"source" doc:"The source of a pipeline to run without storing it, as YAML or JSON."`
	Vars   map[string]any `json:"vars" doc:"Variables that the run starts with; they override those of the source."`
	Body   any            `json:"body" body:"only" doc:"The body that the run starts with. Without one it is that of the source."`
}

func runCommand(r *Runner) command.Command {
	return command.New("pipeline.run", "Run a pipeline as yourself and answer with its final body.", r.direct, command.Traffic, command.Missing(missing))
}

// direct runs a pipeline for a caller, or for the run of another pipeline.
func (r *Runner) direct(ctx context.Context, p runParams) (any, error) {
	if (p.Name == "") == (p.Source == "") {
		return nil, sluice.InvalidParameter("name", "Give either name, for a stored pipeline, or source, for one that is not; not both. Over HTTP they belong in the query: the body is that of the run.")
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
	if outer := sluice.RunFrom(ctx); outer != nil {
		if err := bindToOwner(ctx, this); err != nil {
			return nil, err
		}
		this.Caller, this.TraceID, this.CorrelationID, this.Event, this.Recorded = outer.Caller, outer.TraceID, outer.CorrelationID, outer.Event, outer.Recorded
	} else {
		this.Caller, this.TraceID = sluice.UserFrom(ctx).Name, sluice.NewTraceID(sluice.DirectCall, time.Now())
		release, err := r.slot()
		if err != nil {
			return nil, err
		}
		defer release()
	}
	if this.Switch(sluice.UserFrom(ctx)); p.Name != "" {
		owner, err := this.Owner(ctx)
		if err != nil && sluice.AsError(err).Kind != sluice.Unauthenticated {
			return nil, err
		}
		this.Confine(owner)
	}
	request := map[string]any{"traceId": this.TraceID, "correlationId": this.CorrelationID, "deliveryCount": 0, "attempt": 1}
	maps.Copy(request, sluice.RequestFrom(ctx))
	out, err := r.attempt(ctx, program, run.Start{Run: this, Body: p.Body, Vars: p.Vars, Request: request, Attempt: 1})
	r.observed(out, time.Time{})
	if sluice.RunFrom(ctx) == nil {
		r.noteRun(ctx, "pipeline.run", cmp.Or(p.Name, hashOf(p.Source)), this.TraceID, err)
	}
	return out.Body, err
}

// noteRun enters in the audit log that a user has run something.
func (r *Runner) noteRun(ctx context.Context, command, target, traceID string, err error) {
	user := sluice.UserFrom(ctx)
	e := sluice.AuditEntry{Username: user.Name, Address: user.Address, Command: command, Target: target, TraceID: traceID, Outcome: sluice.AuditAllowed, Access: true}
	if err != nil {
		e.Outcome, e.Code = sluice.AuditFailed, sluice.AsError(err).Code
	}
	r.Note(ctx, e)
}

// hashOf names a source that is not stored.
func hashOf(source string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(source))) }

// bindToOwner bounds a run within another one by what its owner may do: whoever may
// change the inner pipeline must not gain the rights of the outer pipeline's user.
func bindToOwner(ctx context.Context, run *sluice.Run) error {
	owner, err := run.Owner(ctx)
	if err != nil && sluice.AsError(err).Kind != sluice.Unauthenticated {
		return err
	}
	run.Bind(owner) // an owner who is deleted or disabled may do nothing
	return nil
}

// slot takes a slot for a run, if one is free.
func (r *Runner) slot() (release func(), err error) {
	select {
	case r.slots <- struct{}{}:
		return func() { <-r.slots }, nil
	default:
		return nil, sluice.Errorf(sluice.CodeTooManyRuns, "%d pipelines are running, more are not started; try again in a moment.", cap(r.slots)).After(time.Second)
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

const defaultTries = 100

type tryParams struct {
	Source   string    `json:"source" required:"true" body:"only" doc:"The draft, as YAML or JSON."`
	TraceID  string    `json:"traceId" names:"listed" doc:"Try it on the event of this call only; the outcome is shown also if it is the same as before."`
	EventKey string    `json:"eventKey" names:"listed" doc:"Try it on the events with this key. Default: the key that the draft listens to, unless pipeline is given."`
	Pipeline string    `json:"pipeline" names:"pipeline" doc:"Try it on the events that this pipeline has run on, and compare it with that. Default: the only pipeline that has run on an event."`
	From     time.Time `json:"from" doc:"Earliest time of the events."`
	To       time.Time `json:"to" doc:"Latest time of the events."`
	Limit    int       `json:"limit" min:"1" max:"1000" doc:"At most this many events, newest first. Default 100. Fewer if it takes more than 10 seconds: then next says where to go on."`
	After    string    `json:"after" doc:"The value of next in the previous answer."`
}

func tryCommand(r *Runner) command.Command {
	return command.New("pipeline.try", "Try a draft of a pipeline on past events, and compare what it would make of them with what was made of them. Nothing is done outside: commands that reach outside answer as recorded, otherwise as the stubs of the draft's first test say; otherwise the outcome is unknown. It takes the permission trace.payload: a draft can tell all that callers have sent.",
		func(ctx context.Context, p tryParams) (sluice.TryResult, error) {
			program, err := r.parse(ctx, p.Source)
			if err != nil {
				return sluice.TryResult{}, err
			}
			user := sluice.UserFrom(ctx)
			if !user.May(sluice.MaySeePayload) { // a draft can reveal everything about an event
				return sluice.TryResult{}, sluice.NotPermitted(sluice.MaySeePayload)
			}
			if err := mayListen(program, user); err != nil {
				return sluice.TryResult{}, err
			}
			q, err := r.pastEvents(ctx, program, p)
			if err != nil {
				return sluice.TryResult{}, err
			}
			release, err := r.testSlot(ctx, user.Name)
			if err != nil {
				return sluice.TryResult{}, err
			}
			defer release()
			stage := rehearse.Stage{Commands: r.Commands, Journal: r.Journal, Results: r.Results, User: r.User, Secret: r.Secret, Limits: r.Limits, Log: r.Log}
			result, err := stage.Try(ctx, rehearse.Draft{Program: program, Owner: user, Pipeline: p.Pipeline}, q)
			result.Warnings = r.traps(ctx, program)
			if sluice.RunFrom(ctx) == nil {
				r.noteRun(ctx, "pipeline.try", hashOf(p.Source), q.TraceID, err)
			}
			if err == nil && result.Tried() > 0 {
				r.Seen(ctx, "pipeline.try", cmp.Or(q.TraceID, q.EventKey+q.Pipeline))
			}
			return result, err
		}, command.ReadOnly, command.Missing(missing))
}

// pastEvents returns the query for the events that a draft is tried on.
func (r *Runner) pastEvents(ctx context.Context, program *source.Program, p tryParams) (sluice.TraceQuery, error) {
	q := sluice.TraceQuery{TraceID: p.TraceID, EventKey: p.EventKey, Pipeline: p.Pipeline, From: p.From, To: p.To, Limit: cmp.Or(p.Limit, defaultTries), Before: p.After, Cover: sluice.CoverFrom(ctx).And(sluice.UserFrom(ctx).Cover(sluice.MaySeePayload))}
	if p.Pipeline != "" {
		if _, err := r.find(ctx, p.Pipeline); err != nil {
			return q, err
		}
	}
	if q.TraceID != "" {
		if !strings.Contains(q.TraceID, ":") {
			return q, sluice.InvalidParameter("traceId", "The parameter traceId must be the whole trace id of a call, such as c653e5:mwipbstg2vn1ey41.")
		}
		q.Pipeline = "" // the pipeline to compare with need not have run on the event
		return q, nil
	}
	if q.EventKey == "" && q.Pipeline == "" {
		pattern, _ := program.Listens()
		q.EventKey, _ = strings.CutPrefix(pattern, sluice.EventPrefix)
	}
	if !sluice.ValidKey(q.EventKey) && (q.EventKey != "" || q.Pipeline == "") {
		return q, sluice.InvalidParameter("eventKey", "Say which events to try it on: give the key of events as eventKey, without * and #, or a stored pipeline that has run on them.")
	}
	return q, nil
}

func testCommand(r *Runner) command.Command {
	return command.New("pipeline.test", "Run the tests that a pipeline carries. Nothing outside is called: stubs answer.",
		func(ctx context.Context, p sourceParams) (sluice.TestReport, error) {
			source, err := r.source(ctx, p)
			if err != nil {
				return sluice.TestReport{}, err
			}
			program, err := r.parse(ctx, source)
			if err != nil {
				return sluice.TestReport{}, err
			}
			release, err := r.testSlot(ctx, sluice.UserFrom(ctx).Name)
			if err != nil {
				return sluice.TestReport{}, err
			}
			defer release()
			outcome := sluice.TestReport{Tests: rehearse.Test(ctx, program, r.Limits)}
			for _, result := range outcome.Tests {
				if result.Passed {
					outcome.Passed++
				} else {
					outcome.Failed++
				}
			}
			return outcome, nil
		}, command.ReadOnly, command.Missing(missing))
}

// testsPerUser is how many rehearsals a user may run at the same time: each may keep a
// core busy, and users who may only read may test as well.
const testsPerUser = 2

// testSlot takes a slot for a user's rehearsal, until release is called. A rehearsal
// within a run shares the slot of the run.
func (r *Runner) testSlot(ctx context.Context, username string) (release func(), err error) {
	if sluice.RunFrom(ctx) != nil {
		return func() {}, nil
	}
	if !r.testers.Enter(username) {
		return nil, sluice.Errorf(sluice.CodeTooManyTests, "You run as many tests of pipelines as one user may; wait until one has ended.").After(time.Second)
	}
	end, err := r.slot()
	if err != nil {
		r.testers.Leave(username)
		return nil, err
	}
	return func() {
		end()
		r.testers.Leave(username)
	}, nil
}
