package pipeline

import (
	"context"
	"slices"
	"time"

	"sluice"
	"sluice/command"
	"sluice/value"
)

// A rehearsal runs a draft on past events, one after the other, without doing
// anything outside.
type rehearsal struct {
	*Runner

	program  *Program
	owner    sluice.User // who tries it
	pipeline string      // to compare with; "": the only one that has run

	// Of the current event:
	past    recording
	calls   []sluice.TryCall
	calling string // the command that asks for a recorded answer
	noted   int    // bytes of calls
	missing string // the command of which nobody knows what it would answer
}

// on tries the draft on the event of a call. Gone if that is not kept any more.
func (t *rehearsal) on(ctx context.Context, call *sluice.Call) (sluice.TryItem, error) {
	item := sluice.TryItem{TraceID: call.TraceID, EventKey: call.EventKey, Time: call.Time}
	if shared := t.Limits.Shared; shared != nil { // the event is decoded within the run's own
		memory := shared.Hold()
		defer memory.Release()
		if memory.Grow(ctx, eventCopies*int64(call.Size)) != nil {
			return item, noMemory()
		}
	}
	event, err := t.Journal.Event(ctx, call.CorrelationID)
	if err != nil {
		return item, err
	}
	t.past = t.recordingOf(call)
	t.calls, t.noted, t.missing = nil, 0, ""
	was, err := t.was(ctx, call, &event)
	if err != nil {
		return item, err
	}
	out, err := t.run(ctx, call, &event)
	if ctx.Err() != nil {
		return item, context.Cause(ctx)
	}
	if sluice.CodeNoRunMemory.Is(err) {
		return item, err
	}
	wouldBe := t.wouldBe(out, err)
	item.Verdict = verdictOf(was, wouldBe)
	if t.missing != "" {
		item.Verdict, item.Reason = sluice.TryUnknown, "What "+t.missing+" would have answered is not recorded; say so under stub in the first test of the draft."
	}
	item.Was, item.WouldBe = was.shown(), wouldBe.shown()
	return item, nil
}

// eventCopies is how often an event is in memory until it is decoded.
const eventCopies = 4

// run runs the draft as it would have run for the event.
func (t *rehearsal) run(ctx context.Context, call *sluice.Call, event *sluice.Event) (any, error) {
	message, err := value.DecodeObject(event.AppendJSON(nil))
	if err != nil {
		return nil, err
	}
	d := sluice.Delivery{Message: message, TraceID: call.TraceID, CorrelationID: call.CorrelationID, Hops: event.Hops, Count: max(1, t.past.run.Delivery)}
	message["correlationId"], message["deliveryCount"] = d.CorrelationID, d.Count
	run := &sluice.Run{
		Pipeline: t.past.run.Pipeline, TraceID: d.TraceID, CorrelationID: d.CorrelationID, Hops: d.Hops, Event: message,
		Owner:     func(context.Context) (sluice.User, error) { return t.owner, nil },
		OwnerName: t.owner.Name,
		Recorded:  t.recorded,
	}
	user, err := t.User(ctx, sluice.AnonymousName)
	if err != nil {
		return nil, err
	}
	run.Switch(user)
	return t.execute(ctx, t.program, beginning{run: run, body: message, request: requestOf(d, max(1, t.past.run.Attempt))})
}

// execute runs the draft, or a pipeline that it runs.
func (t *rehearsal) execute(ctx context.Context, p *Program, b beginning) (any, error) {
	limits := t.Limits
	limits.RunTime = min(limits.RunTime, maxTestTime)
	return newExecution(environment{
		limits: limits,
		call:   t.call,
		secret: t.reveal,
		pause:  func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		log:    t.Log,
	}, p, b, nil).execute(context.WithValue(ctx, rehearsalKey{}, t), b)
}

type rehearsalKey struct{}

// rehearsalOf returns the rehearsal that a run is part of, nil if it is none.
func rehearsalOf(ctx context.Context) *rehearsal {
	t, _ := ctx.Value(rehearsalKey{}).(*rehearsal)
	return t
}

// call calls a command that does nothing outside, and answers for the others.
func (t *rehearsal) call(ctx context.Context, cmd command.Command, args command.Args) (any, error) {
	if !cmd.Allows(sluice.UserFrom(ctx)) {
		return nil, forbidden(cmd.Name) // the audit log is about what is done
	}
	switch {
	case cmd.Name == "wait", cmd.Name == "log":
		return bodyOf(cmd, args), nil
	case !reachesOutside(cmd) && (cmd.Name != receivesEvent || isOwnEvent(sluice.RunFrom(ctx), args)):
		return t.Commands().Call(ctx, cmd, args)
	}
	if cmd.Recorded {
		t.calling = cmd.Name
		out, err := t.Commands().Call(ctx, cmd, args)
		if !sluice.IsNotRecorded(err) {
			return out, err
		}
	} else {
		t.note(sluice.TryCall{Command: cmd.Name, Args: t.shown(ctx, args)})
	}
	if len(t.program.tests) > 0 {
		if s, ok := t.program.tests[0].stubs[cmd.Name]; ok {
			return s.answer()
		}
	}
	t.missing = cmd.Name
	return nil, sluice.NotRecorded()
}

// reachesOutside reports whether a command does, or may do, something outside of
// its run.
func reachesOutside(cmd command.Command) bool {
	switch cmd.Name {
	case switchCommand, "pipeline.run", "iam.whoami", receivesEvent:
		return false
	}
	return !cmd.Pure
}

const receivesEvent = "event.receive"

// isOwnEvent reports whether arguments ask for the event that started the run.
func isOwnEvent(run *sluice.Run, args command.Args) bool {
	key, ok := run.Event["eventKey"].(string)
	return ok && slices.ContainsFunc(args, func(a command.Arg) bool { return a.Value == key })
}

// note notes what would have been done outside.
func (t *rehearsal) note(call sluice.TryCall) {
	if len(t.calls) < maxReported {
		t.calls = append(t.calls, call)
	}
}

// shown returns arguments as people read them, without secrets.
func (t *rehearsal) shown(ctx context.Context, args command.Args) string {
	if t.noted >= maxExchanges {
		return ""
	}
	hidden, _ := secretsOf(ctx)
	text, _ := value.AppendJSON(nil, hidden.hide(named(args)), maxMessage+1) // cut off if it is longer
	t.noted += min(len(text), maxMessage)
	return startOf(string(text), maxMessage)
}
