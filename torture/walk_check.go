package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"sluice"
)

const (
	settleTime = 90 * time.Second // until nothing may wait any more, though all recipients are well
	agreeTime  = 45 * time.Second // until figures agree with calls: a node may have to ask the engine again
	mayBeLost  = 2 * time.Second  // before a kill, of what was rejected: it is kept within a second
)

// prepare makes the webhooks, secrets and pipelines of a walk.
func (w *walk) prepare(ctx context.Context) error {
	secret := map[string]any{"name": "walk", "value": "whsec_d2Fsa3dhbGt3YWxrd2Fsa3dhbGs="}
	if err := w.may(ctx, "secret.put", secret, nil); err != nil {
		return err
	}
	if err := w.targets.storeAddresses(ctx, w); err != nil {
		return err
	}
	for _, kind := range kindsOfWalk {
		hook := &walkHook{kind: kind.name, eventKey: "webhook.walk." + kind.name}
		params := map[string]any{"eventKey": hook.eventKey}
		maps.Copy(params, kind.put)
		var view sluice.WebhookView
		if err := w.may(ctx, "webhook.put", params, &view); err != nil {
			return err
		}
		hook.uuid, hook.tokens = view.UUID, []string{view.UUID}
		w.hooks[kind.name] = hook
	}
	for _, kind := range kindsOfWalk {
		if kind.pipeline != "" {
			if err := w.store(ctx, kind.name, kind.pipeline); err != nil {
				return err
			}
		}
	}
	return w.store(ctx, "sent", sentPipeline)
}

// settleAndCheck makes all recipients well, waits until nothing waits, and checks everything.
func (w *walk) settleAndCheck(ctx context.Context) error {
	w.checks++
	w.a.set(isWell)
	w.b.set(isWell)
	if err := w.setClocks(); err != nil {
		return err
	}
	for _, kind := range kindsOfWalk {
		if kind.pipeline == "" {
			continue
		}
		if err := w.may(ctx, "pipeline.resume", map[string]any{"name": kind.name}, nil); err != nil {
			return err
		}
	}
	if w.settle(ctx) && w.agree(ctx) {
		w.check(ctx)
	}
	if len(w.found) > 0 {
		shown := w.found
		if len(shown) > 20 {
			shown = append(shown[:20:20], fmt.Sprintf("and %d more", len(w.found)-20))
		}
		trail := w.trail[max(0, len(w.trail)-stretchSteps):]
		return violation{step: w.step, found: append(shown, "the latest steps: "+strings.Join(trail, ", "))}
	}
	return ctx.Err()
}

// settle waits until no call waits for anything.
func (w *walk) settle(ctx context.Context) bool {
	var waiting []string
	for until := time.Now().Add(settleTime); time.Now().Before(until) && ctx.Err() == nil; sleep(ctx,
		200*time.Millisecond) {
		waiting = nil
		if err := w.doWork(ctx, 1); err != nil {
			return false
		}
		for range w.nodes {
			for _, status := range []sluice.Status{sluice.StatusProcessing, sluice.StatusRetrying} {
				var open sluice.List[sluice.Call]
				params := map[string]any{"status": status, "limit": 20}
				if err := w.may(ctx, "trace.get", params, &open); err != nil {
					return false
				}
				for _, c := range open.Items {
					waiting = append(waiting, fmt.Sprintf("%+v", c))
				}
			}
		}
		if len(waiting) == 0 {
			return true
		}
	}
	var queues []sluice.WorkQueue
	if err := w.may(ctx, "work.queues", map[string]any{}, &queues); err != nil {
		return false
	}
	w.blamef("calls wait though all recipients are well: %s; the queues are %+v", strings.Join(waiting, "; "), queues)
	return false
}

// check holds what the server says against the book.
func (w *walk) check(ctx context.Context) {
	found := make(map[string][]sluice.Call) // by event key
	for _, hook := range w.hooks {
		found[hook.eventKey] = w.traces(ctx, hook.eventKey)
	}
	byTrace, byCall, replayed := make(map[string][]sluice.Call), make(map[string][]sluice.Call), make(map[string]bool)
	for _, c := range append(slices.Concat(slices.Collect(maps.Values(found))...), w.traces(ctx, sentKey)...) {
		replayed[c.ReplayOf] = true
		if c.EventKey != sentKey {
			byTrace[c.TraceID] = append(byTrace[c.TraceID], c)
		}
		if c.Batch != nil {
			byCall[c.Batch.TraceID] = append(byCall[c.Batch.TraceID], c)
		}
	}
	for call, items := range byCall { // also one that nobody was answered
		if len(items) != items[0].Batch.Count {
			w.blamef("the call %s brought %d events, and %d of them are there", call, items[0].Batch.Count, len(items))
		}
	}
	for _, c := range w.calls {
		if len(c.items) > 0 {
			w.checkBatch(ctx, c, byCall[c.traceID])
		} else {
			w.checkCall(ctx, c, byTrace[c.traceID])
		}
	}
	w.checkTargets(ctx, byTrace)
	w.checkOnce(replayed)
	w.checkOrder(byTrace, replayed)
	w.checkFigures(ctx, found)
	w.checkRejected(ctx)
	w.checkLetters(ctx, byTrace, replayed)
	w.checkTokens(ctx)
	w.checkRoles(ctx)
	w.checkAudit(ctx)
	w.checkFolder(ctx)
	if len(w.found) == 0 && w.random.IntN(copiedEvery) == 0 {
		w.checkCopy(ctx)
	}
}

// traces returns all calls of a webhook.
func (w *walk) traces(ctx context.Context, eventKey string) (all []sluice.Call) {
	params := map[string]any{"eventKey": eventKey, "limit": 1000}
	for {
		var page sluice.List[sluice.Call]
		if err := w.may(ctx, "trace.get", params, &page); err != nil {
			return nil
		}
		all = append(all, page.Items...)
		if page.Next == "" {
			return all
		}
		params["after"] = page.Next
	}
}

// checkCall: an acknowledged call is found once, in one state; what it is forwarded to has got
// it at least once, always under the same id; its result is what the pipeline made.
func (w *walk) checkCall(ctx context.Context, c *walkCall, found []sluice.Call) {
	if len(found) != 1 {
		w.blamef("the acknowledged call %s of %s is %d times in trace.get (erased: %v)", c.traceID, c.kind, len(found),
			c.erased)
		return
	}
	if c.erased && !found[0].Erased {
		w.blamef("the call %s of %s was erased, and trace.get does not say so", c.traceID, c.kind)
	}
	if c.erased {
		return
	}
	status := found[0].Status
	if final := []sluice.Status{
		sluice.StatusOK, sluice.StatusError, sluice.StatusRecovered,
	}; !slices.Contains(final, status) {
		w.blamef("the call %s of %s is %s after everything has settled", c.traceID, c.kind, status)
	}
	kind := kindOfWalk(c.kind)
	reached := 0
	for _, at := range []*recipient{w.a, w.b} {
		got := at.of(c.mark)
		w.checkIDs(c, got)
		reached += len(got.answered)
	}
	if kind.forwards && status != sluice.StatusError && reached == 0 {
		w.blamef("the call %s of %s is %s, and no recipient has got it", c.traceID, c.kind, status)
	}
	if c.kind == "typed" && found[0].Type != c.to {
		w.blamef("the call %s of type %s has the type %q", c.traceID, c.to, found[0].Type)
	}
	if kind.result != nil && status == sluice.StatusOK {
		w.checkResult(ctx, c.traceID, c.kind, c.correlationID, kind.result(c))
	}
}

// checkResult: the result of a call is what its pipeline made.
func (w *walk) checkResult(ctx context.Context, traceID, kind, correlationID, want string) {
	var result sluice.Result
	err := w.insist(ctx, func() (err error) {
		result, err = w.client().result(ctx, correlationID)
		return err
	})
	if err != nil || cmp.Or(string(result.Value), "null") != want {
		w.blamef("the result of the call %s of %s is %s, %v instead of %s", traceID, kind, result.Value, err, want)
	}
}

// checkBatch: of a call that brought several events, each one is there, once, with a result of its own.
func (w *walk) checkBatch(ctx context.Context, c *walkCall, items []sluice.Call) {
	if len(items) != len(c.items) {
		w.blamef("the call %s brought %d events, and trace.get has %d of them (erased: %v)", c.traceID, len(c.items),
			len(items), c.erased)
		return
	}
	seen := make(map[int]bool)
	for _, item := range items {
		seen[item.Batch.Index] = true
		switch {
		case item.Batch.Index >= len(c.items):
			w.blamef("event %d of the call %s was not in it", item.Batch.Index, c.traceID)
		case c.erased != item.Erased:
			w.blamef("event %d of the call %s is erased: %t, and the call %t", item.Batch.Index, c.traceID, item.Erased,
				c.erased)
		case !c.erased && item.Status != sluice.StatusOK:
			w.blamef("event %d of the call %s is %s", item.Batch.Index, c.traceID, item.Status)
		case !c.erased:
			w.checkResult(ctx, item.TraceID, c.kind, item.CorrelationID, `"`+c.items[item.Batch.Index]+`"`)
		}
	}
	if len(seen) != len(c.items) {
		w.blamef("the events of the call %s are %v of %d", c.traceID, slices.Sorted(maps.Keys(seen)), len(c.items))
	}
}

// checkOnce: a step that is done once was not done again but for an interruption.
func (w *walk) checkOnce(replayed map[string]bool) {
	for _, c := range w.calls {
		if c.kind != "once" || c.erased || replayed[c.traceID] {
			continue
		}
		may := 1
		for _, fault := range w.faults {
			if fault.After(c.at) {
				may++
			}
		}
		if times := w.a.of(c.mark).times("/once"); times > may {
			w.blamef("the call %s did %d times what it does once, with %d faults since", c.traceID, times, may-1)
		}
	}
}

// checkOrder: of calls with the same value, one that came after another was answered is done after it.
func (w *walk) checkOrder(byTrace map[string][]sluice.Call, replayed map[string]bool) {
	type done struct {
		*walkCall
		first time.Time
	}
	ordered := make(map[string][]done)
	for _, c := range w.calls {
		if found := byTrace[c.traceID]; c.kind == "ordered" && !c.erased && !w.wasAway(c) && !replayed[c.traceID] && len(found) == 1 &&
			found[0].Status == sluice.StatusOK {
			ordered[c.to] = append(ordered[c.to], done{c, w.a.of(c.mark).first("/ordered")})
		}
	}
	for value, calls := range ordered {
		slices.SortFunc(calls, func(a, b done) int { return a.first.Compare(b.first) })
		var latest done // of those done so far, the one that came last
		for _, c := range calls {
			if latest.walkCall != nil && c.answered.Before(latest.at) {
				w.blamef("of the calls with the value %s, %s was done before %s, which was answered before it came",
					value, latest.traceID, c.traceID)
			}
			if latest.walkCall == nil || c.at.After(latest.at) {
				latest = c
			}
		}
	}
}

// checkRoles: of a role that two have edited at once, each has what it took away, or gave.
func (w *walk) checkRoles(ctx context.Context) {
	for _, role := range w.roles {
		var found struct {
			Permissions, Scope []string
		}
		if err := w.may(ctx, "iam.role.get", map[string]any{"role": role}, &found); err != nil {
			return
		}
		if len(found.Permissions) != 1 || len(found.Scope) != 1 {
			w.blamef("a role that two edited at once has the permissions %v and the scope %v", found.Permissions,
				found.Scope)
		}
	}
}

// checkIDs: an event has one webhook-id, at each attempt and each replay. What the pipeline of
// the kind fanned sends are two events.
func (w *walk) checkIDs(c *walkCall, got arrivals) {
	most := 1
	if c.kind == "fanned" {
		most = 2
	}
	if len(got.ids) > most {
		w.blamef("the call %s of %s came under the ids %v", c.traceID, c.kind, slices.Sorted(maps.Keys(got.ids)))
	}
}

// checkFigures: the figures of each webhook are those of its calls, and those of each pipeline those of its
// runs, soon after a start. Of several nodes, one that is killed takes what it has counted in the last seconds along.
func (w *walk) checkFigures(ctx context.Context, found map[string][]sluice.Call) {
	ran := make(map[string]sluice.RunFigures) // by pipeline
	runsOf(w.traces(ctx, sentKey), ran)
	for _, hook := range w.hooks {
		runsOf(found[hook.eventKey], ran)
		w.checkCount(hook, figuresOf(found[hook.eventKey]).Accepted)
	}
	if w.engine != nil && len(w.kills) > 0 {
		return
	}
	var differ []string
	for until := time.Now().Add(agreeTime); time.Now().Before(until) && ctx.Err() == nil; sleep(ctx,
		200*time.Millisecond) {
		var err error
		if differ, err = w.runsDiffer(ctx, ran); err != nil {
			return
		}
		for _, hook := range w.hooks {
			var stats []sluice.WebhookStats
			params := map[string]any{"eventKey": hook.eventKey, "hours": 720}
			if err := w.may(ctx, "webhook.stats", params, &stats); err != nil {
				return
			}
			var said sluice.CallFigures
			for _, item := range stats {
				said.Add(item.CallFigures)
			}
			are := figuresOf(found[hook.eventKey])
			if w.fits(said.Rejected, are.Rejected) {
				said.Rejected = are.Rejected
			}
			if said != are {
				differ = append(differ,
					fmt.Sprintf("the figures of %s are %+v, and its calls %+v", hook.kind, said, are))
			}
		}
		if len(differ) == 0 {
			return
		}
	}
	for _, difference := range differ {
		w.blamef("%s", difference)
	}
}

// figuresOf counts the accepted calls by their states, and those that were rejected. Replays are no calls.
func figuresOf(calls []sluice.Call) (f sluice.CallFigures) {
	for _, c := range calls {
		if c.ReplayOf != "" || c.Split != nil {
			continue
		}
		switch c.Status {
		case sluice.StatusProcessing:
			f.Processing++
		case sluice.StatusRetrying:
			f.Retrying++
		case sluice.StatusOK:
			f.OK++
		case sluice.StatusError:
			f.Error++
		case sluice.StatusRecovered:
			f.Recovered++
		case sluice.StatusRejected:
			f.Rejected += max(1, c.Count)
		}
	}
	f.Accepted = f.Processing + f.Retrying + f.OK + f.Error + f.Recovered
	return f
}

// checkCount: every call that was acknowledged is there, and none that nobody made.
func (w *walk) checkCount(hook *walkHook, accepted int) {
	acked, unknown := 0, w.admitted(hook)
	for _, c := range w.calls {
		if c.kind == hook.kind {
			acked += len(c.marks())
		}
	}
	for _, c := range w.unknown {
		if c.kind == hook.kind {
			unknown += len(c.marks())
		}
	}
	if accepted < acked || accepted > acked+unknown {
		w.blamef("%s: %d calls were acknowledged and %d may have been, and trace.get has %d",
			hook.kind, acked, unknown, accepted)
	}
}

// admitted returns how many calls of a webhook may have come from the quarantine.
func (w *walk) admitted(hook *walkHook) int {
	if hook.kind == "signed" {
		return len(w.rejected)
	}
	return 0
}

// checkRejected: calls that were refused are in the trace, but for those that came right before the
// server was killed.
func (w *walk) checkRejected(ctx context.Context) {
	certain := 0
	for _, c := range w.rejected {
		if !w.lostAt(c.at) {
			certain++
		}
	}
	there := 0
	params := map[string]any{"eventKey": w.hooks["signed"].eventKey, "status": sluice.StatusRejected, "limit": 1000}
	for {
		var page sluice.List[sluice.Call]
		if err := w.may(ctx, "trace.get", params, &page); err != nil {
			return
		}
		for _, c := range page.Items {
			there += max(1, c.Count)
		}
		if page.Next == "" {
			break
		}
		params["after"] = page.Next
	}
	if there < certain || there > len(w.rejected)+len(w.unknown)+w.hooks["signed"].refused {
		w.blamef("%d calls were rejected, %d of them not right before a kill, and trace.get has %d",
			len(w.rejected), certain, there)
	}
}

// lostAt reports whether the server was killed, or ended, shortly after a moment, or after the time around that
// moment in which it could write nothing.
func (w *world) lostAt(at time.Time) bool {
	for _, stuck := range w.stuck {
		if at.After(stuck.from) && at.Before(stuck.to) {
			at = stuck.to
		}
	}
	return slices.ContainsFunc(w.kills,
		func(kill time.Time) bool { return !at.After(kill) && kill.Sub(at) < mayBeLost })
}

// checkTokens: a token that was closed stays closed.
func (w *walk) checkTokens(ctx context.Context) {
	for _, token := range w.closed {
		closed, err := w.isClosed(ctx, token)
		if err == nil && !closed {
			w.blamef("the token …%s was closed, and opens its webhook", sluice.Last6(token))
		}
	}
}

// checkAudit: the chain of the audit log is whole.
func (w *walk) checkAudit(ctx context.Context) {
	var answer struct {
		Breaks []any `json:"breaks"`
		OK     *bool `json:"ok"`
	}
	if err := w.may(ctx, "audit.verify", map[string]any{}, &answer); err != nil {
		return
	}
	if len(answer.Breaks) > 0 || answer.OK != nil && !*answer.OK {
		w.blamef("the audit log is broken: %v", answer.Breaks)
	}
}
