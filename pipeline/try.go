package pipeline

import (
	"cmp"
	"context"
	"strings"
	"time"

	"sluice"
	"sluice/pipeline/rehearse"
	"sluice/pipeline/source"
)

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

// try tries a draft on past events.
func (r *Runner) try(ctx context.Context, p tryParams) (result sluice.TryResult, err error) {
	program, err := r.parse(ctx, p.Source)
	if err != nil {
		return result, err
	}
	user := sluice.UserFrom(ctx)
	if !user.May(sluice.MaySeePayload) { // a draft can reveal everything about an event
		return result, sluice.NotPermitted(sluice.MaySeePayload)
	}
	if err := mayListen(program, p.Pipeline, user); err != nil {
		return result, err
	}
	q, err := r.pastEvents(ctx, program, p)
	if err != nil {
		return result, err
	}
	release, err := r.testSlot(ctx, user.Name)
	if err != nil {
		return result, err
	}
	defer release()
	stage := rehearse.Stage{
		Commands: r.Commands, Journal: r.Journal, Results: r.Results, User: r.User, Secret: r.Secret,
		Limits: r.limits(ctx), Log: r.Log,
	}
	result, err = stage.Try(ctx, rehearse.Draft{Program: program, Owner: user, Pipeline: p.Pipeline}, q)
	result.Warnings = r.traps(ctx, program)
	if sluice.RunFrom(ctx) == nil {
		r.noteRun(ctx, "pipeline.try", hashOf(p.Source), q.TraceID, err)
	}
	if err == nil && result.Tried() > 0 {
		r.Seen(ctx, "pipeline.try", cmp.Or(q.TraceID, q.EventKey+q.Pipeline))
	}
	return result, err
}

// pastEvents returns the query for the events that a draft is tried on.
func (r *Runner) pastEvents(ctx context.Context, program *source.Program, p tryParams) (sluice.TraceQuery, error) {
	q := sluice.TraceQuery{
		TraceID: p.TraceID, EventKey: p.EventKey, Pipeline: p.Pipeline, From: p.From, To: p.To,
		Limit: cmp.Or(p.Limit, defaultTries), Before: p.After, Cover: sluice.CoverFrom(ctx).
			And(sluice.UserFrom(ctx).Cover(sluice.MaySeePayload)),
	}
	if p.Pipeline != "" {
		if _, err := r.find(ctx, p.Pipeline); err != nil {
			return q, err
		}
	}
	if q.TraceID != "" {
		if !strings.Contains(q.TraceID, ":") {
			return q, sluice.InvalidParameter("traceId",
				"The parameter traceId must be the whole trace id of a call, such as c653e5:mwipbstg2vn1ey41.")
		}
		q.Pipeline = "" // the pipeline to compare with need not have run on the event
		return q, nil
	}
	if q.EventKey == "" && q.Pipeline == "" {
		pattern, _ := program.Listens(p.Pipeline)
		q.EventKey, _ = strings.CutPrefix(pattern, sluice.EventPrefix)
	}
	if !sluice.ValidKey(q.EventKey) && (q.EventKey != "" || q.Pipeline == "") {
		return q, sluice.InvalidParameter("eventKey", "Say which events to try it on: give the key of events as "+
			"eventKey, without * and #, or a stored pipeline that has run on them.")
	}
	return q, nil
}
