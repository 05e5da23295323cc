// Package rehearse runs programs without any effect outside. Test runs the tests of a
// source, where stubs replace the commands that reach outside. Stage.Try runs a draft on
// past events, with recordings of the outside calls, and compares the outcomes.
//
// A rehearsal is a run of package pipeline/run with another Environment. The
// commands pipeline.test and pipeline.try, and how many rehearsals a user has at
// the same time, are in package pipeline.
package rehearse

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"sluice"
	"sluice/command"
	"sluice/pipeline/run"
	"sluice/pipeline/source"
	"sluice/value"
)

// A Stage is what rehearsals of drafts need from the server.
type Stage struct {
	Commands func() command.Set // returns all commands; called at each use
	Journal  sluice.Journal     // past events
	Results  sluice.Results     // what became of them
	User     sluice.Lookup[sluice.User]
	Secret   sluice.Lookup[string]
	Limits   run.Limits
	Log      *slog.Logger
}

// A Draft is a program to try.
type Draft struct {
	Program  *source.Program
	Owner    sluice.User // who tries it
	Pipeline string      // the pipeline to compare with; "": the only one that ran
}

// A Rehearsal runs a draft on past events, one after the other, without any effect
// outside.
type Rehearsal struct {
	Stage

	draft Draft

	// Of the current event:
	past    recording
	calls   []sluice.TryCall
	calling string // the command that asks for a recorded reply
	noted   int    // bytes of calls
	missing string // the command that has neither a recording nor a stub
}

// on tries the draft on the event of a call. It fails with Gone if the event is no longer
// kept.
func (t *Rehearsal) on(ctx context.Context, call *sluice.Call) (sluice.TryItem, error) {
	item := sluice.TryItem{TraceID: call.TraceID, EventKey: call.EventKey, Time: call.Time}
	release, err := t.Limits.Reserve(ctx, eventCopies*int64(call.Size)) // it is decoded within the memory of the run
	if err != nil {
		return item, err
	}
	defer release()
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
	out, passed, err := t.runOn(ctx, call, &event)
	if ctx.Err() != nil {
		return item, context.Cause(ctx)
	}
	if sluice.CodeNoRunMemory.Is(err) {
		return item, err
	}
	wouldBe := t.wouldBe(out, err)
	if passed {
		wouldBe.Status, wouldBe.Value = sluice.StatusPassed, nil
	}
	item.Verdict = verdictOf(was, wouldBe)
	if t.missing != "" {
		item.Verdict, item.Reason = sluice.TryUnknown, "What "+t.missing+" would have answered is not recorded; say "+
			"so under stub in the first test of the draft."
	}
	item.Was, item.WouldBe = was.show(), wouldBe.show()
	return item, nil
}

// eventCopies is how many copies of an event are in memory until it is decoded.
const eventCopies = 4

// runOn runs the draft as it would have run for the event.
func (t *Rehearsal) runOn(
	ctx context.Context, call *sluice.Call, event *sluice.Event,
) (body any, passed bool, err error) {
	message, err := value.DecodeObject(event.AppendJSON(nil))
	if err != nil {
		return nil, false, err
	}
	d := sluice.Delivery{
		Message: message, TraceID: call.TraceID, CorrelationID: call.CorrelationID, Hops: event.Hops,
		Count: max(1, t.past.run.Delivery),
	}
	message["correlationId"], message["deliveryCount"] = d.CorrelationID, d.Count
	t.draft.Owner.HintCover("pipeline.get").HideInternals(message)
	user, err := t.User(ctx, sluice.AnonymousName)
	if err != nil {
		return nil, false, err
	}
	start := run.For(d, max(1, t.past.run.Attempt), &sluice.Run{
		Pipeline:  t.past.run.Pipeline,
		Owner:     func(context.Context) (sluice.User, error) { return t.draft.Owner, nil },
		OwnerName: t.draft.Owner.Name,
		Recorded:  t.recorded,
	})
	start.Run.Switch(user)
	start.Run.Confine(t.draft.Owner)
	out, err := t.Run(ctx, t.draft.Program, start)
	return out.Body, out.Passed, err
}

// Run runs the draft, or a pipeline that it runs.
func (t *Rehearsal) Run(ctx context.Context, p *source.Program, s run.Start) (run.Outcome, error) {
	limits := t.Limits
	limits.RunTime = cmp.Or(min(limits.RunTime, maxTestTime), maxTestTime)
	environment := run.Environment{Limits: limits, Call: t.call, Secret: t.Secret, Pause: noPause, Log: t.Log}
	out, err := run.Run(context.WithValue(ctx, rehearsalKey{}, t), environment, p, s)
	out.Report = nil // nobody is told of it
	return out, err
}

type rehearsalKey struct{}

// From returns the rehearsal that a run is part of, or nil.
func From(ctx context.Context) *Rehearsal {
	t, _ := ctx.Value(rehearsalKey{}).(*Rehearsal)
	return t
}

// call calls a command that has no effect outside, and stands in for the others.
func (t *Rehearsal) call(ctx context.Context, cmd command.Command, args command.Args) (any, error) {
	if !cmd.Allows(sluice.UserFrom(ctx)) {
		return nil, sluice.NotPermitted(cmd.Name) // not for the audit log: nothing was done
	}
	switch {
	case cmd.Name == "wait", cmd.Name == "log":
		return bodyOf(cmd, args), nil
	case !reachesOutside(cmd) && (cmd.Name != sluice.ReceiveCommand || isOwnEvent(sluice.RunFrom(ctx), args)):
		return t.Commands().Call(ctx, cmd, args)
	}
	if cmd.Recorded {
		t.calling = cmd.Name
		out, err := t.Commands().Call(ctx, cmd, args)
		if !sluice.IsNotRecorded(err) {
			return out, err
		}
	} else {
		t.note(sluice.TryCall{Command: cmd.Name, Args: t.showArgs(ctx, named(args))})
		if answer := t.sentThen(cmd.Name); answer != nil {
			return answer, nil
		}
	}
	if len(t.draft.Program.Tests) > 0 {
		if s, ok := t.draft.Program.Tests[0].Stubs[cmd.Name]; ok {
			return outputOf(s)
		}
	}
	t.missing = cmd.Name
	return nil, sluice.NotRecorded()
}

// reachesOutside reports whether a command may have an effect outside of its run.
func reachesOutside(cmd command.Command) bool {
	switch cmd.Name {
	case source.SwitchCommand, "pipeline.run", "iam.whoami", sluice.ReceiveCommand:
		return false
	}
	return !cmd.Pure
}

// isOwnEvent reports whether arguments ask for the event that started the run.
func isOwnEvent(run *sluice.Run, args command.Args) bool {
	key, ok := run.Event["eventKey"].(string)
	return ok && slices.ContainsFunc(args, func(a command.Arg) bool { return a.Value == key })
}

// note adds a call that the draft would have made outside.
func (t *Rehearsal) note(call sluice.TryCall) {
	if len(t.calls) < run.MaxReported {
		t.calls = append(t.calls, call)
	}
}

// showArgs returns arguments for people, without secrets.
func (t *Rehearsal) showArgs(ctx context.Context, args map[string]any) string {
	if t.noted >= run.MaxExchanges {
		return ""
	}
	hidden := run.SecretsFrom(ctx)
	text, _ := value.AppendJSON(nil, hidden.Hide(args), run.MaxMessage+1) // cut off if it is longer
	t.noted += min(len(text), run.MaxMessage)
	return startOf(string(text), run.MaxMessage)
}

const (
	maxTryTime  = 10 * time.Second // then Try returns a cursor
	tryPage     = 5                // calls in memory at the same time: each may be large
	maxTryItems = 20               // events in the result
	maxTryCalls = 20               // outside calls of an event in the result
)

// Try tries a draft on the events of a query, one after the other, and compares the
// outcomes with the recorded ones. If it takes too long, Next of the result is the cursor
// for the rest.
func (s Stage) Try(ctx context.Context, draft Draft, q sluice.TraceQuery) (sluice.TryResult, error) {
	t := &Rehearsal{Stage: s, draft: draft}
	result, wanted, end := sluice.TryResult{Items: []sluice.TryItem{}}, q.Limit, time.Now().Add(maxTryTime)
	for {
		q.Limit = min(tryPage, wanted-result.Tried())
		calls, next, err := s.Journal.Calls(ctx, q)
		if err != nil {
			return result, err
		}
		for i := range calls {
			if calls[i].CorrelationID == "" || calls[i].ReplayOf != "" && q.TraceID == "" {
				continue // it made no event, or repeats one
			}
			item, err := t.on(ctx, &calls[i])
			switch {
			case err == nil:
				tally(&result, item, q.TraceID != "")
			case !sluice.Gone.Is(err):
				return result, err
			}
		}
		q.Before, result.Next = next, next
		if next == "" || result.Tried() >= wanted || time.Now().After(end) {
			break
		}
	}
	return result, nil
}

// tally adds an event to a result. With all, it also shows an event whose outcome stays
// the same.
func tally(result *sluice.TryResult, item sluice.TryItem, all bool) {
	counter := map[sluice.Verdict]*int{
		sluice.TrySame: &result.Same, sluice.TryDiffers: &result.Differs, sluice.TryFails: &result.Fails,
		sluice.TryUnknown: &result.Unknown,
	}[item.Verdict]
	*counter++
	switch failed := item.Failed(); {
	case item.Verdict == sluice.TryDiffers && item.Was == nil:
		result.New++
	case item.Verdict == sluice.TryDiffers && failed:
		result.Mended++
	case item.Verdict == sluice.TrySame && failed:
		result.StillFails++
		all = true
	}
	if item.Verdict == sluice.TrySame && !all || len(result.Items) == maxTryItems {
		return
	}
	result.Items = append(result.Items, item)
}

// verdictOf compares the ending of a draft with that of a pipeline, which is nil if none
// has run.
func verdictOf(was, wouldBe *ending) sluice.Verdict {
	switch {
	case was != nil && was.sameAs(wouldBe):
		return sluice.TrySame
	case wouldBe.Status == sluice.StatusError:
		return sluice.TryFails
	}
	return sluice.TryDiffers
}

func (e *ending) sameAs(other *ending) bool {
	return e.Status == other.Status && e.Code == other.Code && slices.EqualFunc(e.Calls, other.Calls, sameCall) &&
		(e.Status != sluice.StatusOK || !e.known || value.Equal(e.value, other.value))
}

// sameCall reports whether two calls are the same, as far as that is known.
func sameCall(a, b sluice.TryCall) bool {
	if a.Command != b.Command || (a.HTTP == nil) != (b.HTTP == nil) {
		return false
	}
	if isSend(a.Command) {
		return sameSend(a.Args, b.Args)
	}
	return a.HTTP == nil || a.HTTP.Method == b.HTTP.Method && a.HTTP.URL == b.HTTP.URL &&
		(a.HTTP.Request == "" || b.HTTP.Request == "" || lasting(a.HTTP.Request) == lasting(b.HTTP.Request))
}

// sameSend reports whether two sends have the same key and payload, as far as that is known: not of
// what is cut off, or has a secret in it.
func sameSend(a, b string) bool {
	was, err := value.DecodeObject([]byte(a))
	wouldBe, otherErr := value.DecodeObject([]byte(b))
	if err != nil || otherErr != nil || strings.Contains(b, run.Redacted) {
		return true
	}
	return value.Equal(was["eventKey"], wouldBe["eventKey"]) && value.Equal(was["key"], wouldBe["key"]) &&
		value.Equal(was["payload"], wouldBe["payload"])
}

// lasting returns a request without the headers that change with each sending.
func lasting(request string) string {
	head, body, _ := strings.Cut(request, "\n\n")
	lines := slices.DeleteFunc(strings.Split(head, "\n"), func(line string) bool {
		name, _, _ := strings.Cut(line, ":")
		return slices.Contains([]string{
			"traceparent", "tracestate", "webhook-timestamp", "webhook-signature", "",
		}, name)
	})
	return strings.Join(lines, "\n") + "\n\n" + body
}

// show returns an ending for people, shortened.
func (e *ending) show() *sluice.TryOutcome {
	if e == nil {
		return nil
	}
	o := e.TryOutcome
	o.Calls = o.Calls[:min(len(o.Calls), maxTryCalls)]
	if len(o.Value) > run.MaxMessage {
		o.Value = value.AppendString(nil, startOf(string(o.Value), run.MaxMessage))
	}
	return &o
}

// startOf returns the beginning of a text.
func startOf(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit-len(run.Cut)], "") + run.Cut
}
