package journal_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice"
	"sluice/jetstream"
	"sluice/jetstream/journal"
	"sluice/jetstream/natstest"
	"sluice/problem"
)

// called makes an accepted call of a webhook, as the receiver reports it.
func called(t *testing.T, e *jetstream.Engine, owner, key string, at time.Time) sluice.Call {
	t.Helper()
	ev := event(sluice.NewTraceID(owner, at))
	ev.EventKey, ev.ReceivedAt = key, at.UTC()
	result, err := natstest.Patiently(t.Context(), func() (sluice.Result, error) { return e.Events.Accept(t.Context(), ev, 0) })
	if err != nil {
		t.Fatal(err)
	}
	call := sluice.Call{
		Time: at.UTC(), TraceID: ev.TraceID, CorrelationID: result.CorrelationID, EventKey: key,
		Status: sluice.StatusBefore(result.Listeners), StatusCode: 200, Size: 17, Duration: 1.5, RemoteAddr: "192.0.2.1", Listeners: result.Listeners,
	}
	e.Journal.Hear(journal.Answered{Call: call})
	return call
}

// refused makes a call that was refused.
func refused(e *jetstream.Engine, owner, code string) sluice.Call {
	now := time.Now()
	call := sluice.Call{Time: now.UTC(), TraceID: sluice.NewTraceID(owner, now), Status: sluice.StatusRejected, StatusCode: 401, Code: code, RemoteAddr: "192.0.2.1"}
	e.Journal.Hear(journal.Answered{Call: call})
	return call
}

// find returns all calls of a query, in pages of its limit.
func find(t *testing.T, e *jetstream.Engine, q sluice.TraceQuery) (calls []sluice.Call) {
	t.Helper()
	if q.Limit == 0 {
		q.Limit = 1000
	}
	for {
		var next string
		page, err := natstest.Patiently(t.Context(), func() (page []sluice.Call, err error) {
			page, next, err = e.Journal.Calls(t.Context(), q)
			return page, err
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(page) > q.Limit {
			t.Fatalf("a page has %d calls, want at most %d", len(page), q.Limit)
		}
		calls = append(calls, page...)
		if next == "" {
			return calls
		}
		q.Before = next
	}
}

func ids(calls []sluice.Call) (ids []string) {
	for _, c := range calls {
		ids = append(ids, c.TraceID)
	}
	slices.Sort(ids)
	return ids
}

func wantCalls(t *testing.T, what string, got, want []sluice.Call) {
	t.Helper()
	if g, w := ids(got), ids(want); !slices.Equal(g, w) {
		t.Errorf("%s finds %d calls, want %d:\n%v\n%v", what, len(g), len(w), g, w)
	}
}

// owner returns the end of a token that no other test has.
func owner() string { return strings.Split(natstest.UniqueKey(""), ".")[1][:6] }

func TestEveryCallIsFound(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *jetstream.Engine, _ bool) {
		e := open()
		one, two, stranger := owner(), owner(), owner()
		key, other := natstest.UniqueKey("one"), natstest.UniqueKey("two")
		var ofOne, ofTwo, refusals []sluice.Call
		for i := range 60 {
			ofOne = append(ofOne, called(t, e, one, key, time.Now()))
			if i%3 == 0 {
				ofTwo = append(ofTwo, called(t, e, two, other, time.Now()))
				refusals = append(refusals, refused(e, stranger, "token-invalid"))
			}
			if i == 30 {
				e.Close()
				e = open()
			}
		}
		everything := slices.Concat(ofOne, ofTwo, refusals)
		for _, restart := range []bool{false, true} {
			if restart {
				e.Close()
				e = open()
			}
			wantCalls(t, "the end of a token", find(t, e, sluice.TraceQuery{TraceID: one}), ofOne)
			wantCalls(t, "small pages", find(t, e, sluice.TraceQuery{TraceID: one, Limit: 7}), ofOne)
			wantCalls(t, "a key", find(t, e, sluice.TraceQuery{EventKey: other, Limit: 7}), ofTwo)
			wantCalls(t, "the end of an unknown token", find(t, e, sluice.TraceQuery{TraceID: stranger, Limit: 7}), refusals)
			wantCalls(t, "a key of another webhook", find(t, e, sluice.TraceQuery{TraceID: one, EventKey: other}), nil)
			hour := sluice.TraceQuery{TraceID: two, From: time.Now().Add(-time.Hour), To: time.Now().Add(time.Hour)}
			wantCalls(t, "an hour", find(t, e, hour), ofTwo)
			hour.From, hour.To = hour.From.Add(-time.Hour), hour.From
			wantCalls(t, "the hour before", find(t, e, hour), nil)
			for _, call := range everything {
				wantCalls(t, "a trace id", find(t, e, sluice.TraceQuery{TraceID: call.TraceID}), []sluice.Call{call})
			}
		}
		all := find(t, e, sluice.TraceQuery{From: everything[0].Time, Limit: 50})
		found := make(map[string]int)
		for _, call := range all {
			found[call.TraceID]++
		}
		for _, call := range everything {
			if found[call.TraceID] != 1 {
				t.Errorf("%s is found %d times among all", call.TraceID, found[call.TraceID])
			}
		}
	})
}

func TestACallIsShownAsItWent(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *jetstream.Engine, _ bool) {
		e := open()
		key, owner := natstest.UniqueKey("shown"), owner()
		p := bind(t, e, strings.Split(key, ".")[1], sluice.EventPrefix+key)
		want := called(t, e, owner, key, time.Now().Add(-time.Second))
		status := func() sluice.Status { return find(t, e, sluice.TraceQuery{TraceID: want.TraceID})[0].Status }
		if got := status(); got != sluice.StatusProcessing {
			t.Errorf("before it ran, a call is %s", got)
		}
		shown := problem.Of(sluice.Code("no-name").Errorf("A name is missing.").OfKind(sluice.Invalid))
		consume(t, e, p, func(d sluice.Delivery) (sluice.Outcome, error) {
			e.Journal.Hear(journal.Ran{RunReport: sluice.RunReport{
				Pipeline: p.Name, TraceID: d.TraceID, CorrelationID: d.CorrelationID, EventKey: key, Attempt: 1, Delivery: d.Count,
				Started: time.Now(), Duration: 2, Status: sluice.StatusError, Error: shown,
				Steps: []sluice.StepReport{{Command: "assert", Line: 3, Started: 1, Duration: 0.001, Status: sluice.StatusError, Code: "no-name"}},
			}})
			return sluice.Outcome{Pipeline: p.Name, Status: sluice.StatusError, StatusCode: 400, Error: shown, Attempts: 1, Finished: time.Now()}, nil
		})
		natstest.Eventually(t, "the run", func() bool { return status() == sluice.StatusError })
		got := find(t, e, sluice.TraceQuery{TraceID: want.TraceID, Status: sluice.StatusError})
		if len(got) != 1 || len(got[0].Runs) != 1 || len(got[0].Runs[0].Steps) != 1 {
			t.Fatalf("found %+v", got)
		}
		call, run := got[0], got[0].Runs[0]
		switch {
		case call.CorrelationID != want.CorrelationID, call.EventKey != key, !call.Time.Equal(want.Time),
			call.StatusCode != 200, call.Size != 17, call.Duration != 1.5, call.Listeners != nil:
			t.Errorf("the call is %+v, want %+v", call, want)
		case run.Pipeline != p.Name, run.Status != sluice.StatusError, run.Attempt != 1, run.Duration != 2,
			run.Error == nil || run.Error.Code != "no-name", run.Steps[0].Command != "assert", run.Steps[0].Duration != 0.001:
			t.Errorf("the run is %+v", run)
		}
		for _, other := range []sluice.Status{sluice.StatusOK, sluice.StatusProcessing, sluice.StatusRejected} {
			if more := find(t, e, sluice.TraceQuery{TraceID: owner, Status: other}); more != nil {
				t.Errorf("a failed call is found as %s", other)
			}
		}
	})
}

// A crash loses what was not written yet: no call is among that.
func TestCallsAreFoundWithoutTheJournal(t *testing.T) {
	dir := t.TempDir()
	e := openEngine(t, jetstream.Options{Dir: dir})
	owner, key := owner(), natstest.UniqueKey("crash")
	var calls []sluice.Call
	for range 100 {
		calls = append(calls, called(t, e, owner, key, time.Now()))
	}
	e = openEngine(t, jetstream.Options{Dir: crash(t, dir)})
	forget(t, e)
	wantCalls(t, "the end of a token", find(t, e, sluice.TraceQuery{TraceID: owner}), calls)
	wantCalls(t, "a key", find(t, e, sluice.TraceQuery{EventKey: key, Limit: 9}), calls)
	for _, call := range calls {
		got := find(t, e, sluice.TraceQuery{TraceID: call.TraceID})
		if len(got) != 1 || got[0].CorrelationID != call.CorrelationID || got[0].EventKey != key || got[0].Status != sluice.StatusOK {
			t.Fatalf("found %+v, want %+v", got, call)
		}
	}
}

// TestADeliveryIDIsKnownWithoutTheJournal: the event has it, too.
func TestADeliveryIDIsKnownWithoutTheJournal(t *testing.T) {
	e := openEngine(t, jetstream.Options{Dir: t.TempDir()})
	sent := event(sluice.NewTraceID("abcdef", time.Now()))
	sent.DeliveryID = "the sender's id"
	if _, err := e.Events.Accept(t.Context(), sent, 0); err != nil {
		t.Fatal(err)
	}
	forget(t, e)
	found := find(t, e, sluice.TraceQuery{TraceID: sent.TraceID})
	if len(found) != 1 || found[0].DeliveryID != sent.DeliveryID {
		t.Errorf("found %+v", found)
	}
}

func TestAFloodOfRefusalsIsSummedUp(t *testing.T) {
	e := openEngine(t, jetstream.Options{Dir: t.TempDir()})
	const flood = 5000
	for i := range flood {
		refused(e, fmt.Sprintf("%06d", i), "token-invalid")
	}
	found := find(t, e, sluice.TraceQuery{Status: sluice.StatusRejected})
	total, single := 0, 0
	for _, call := range found {
		total += max(1, call.Count)
		if call.Count == 0 {
			single++
		}
	}
	if total != flood {
		t.Errorf("%d refusals are accounted for, want %d", total, flood)
	}
	if single < journal.MaxRefused || single > flood/2 {
		t.Errorf("%d refusals are entered one by one", single)
	}
}

func TestRunsOfUsersAreFoundByTime(t *testing.T) {
	e := openEngine(t, jetstream.Options{Dir: t.TempDir()})
	now := time.Now()
	report := sluice.RunReport{Pipeline: "nightly", TraceID: sluice.NewTraceID(sluice.DirectCall, now), Attempt: 1, Started: now, Status: sluice.StatusOK}
	e.Journal.Hear(journal.Ran{RunReport: report})
	for _, q := range []sluice.TraceQuery{{TraceID: "direct"}, {TraceID: report.TraceID}, {TraceID: "direct", Status: sluice.StatusOK}} {
		if got := find(t, e, q); len(got) != 1 || got[0].TraceID != report.TraceID || got[0].Runs[0].Pipeline != "nightly" {
			t.Errorf("%+v finds %+v", q, got)
		}
	}
	if got := find(t, e, sluice.TraceQuery{TraceID: "direct", To: now.Add(-time.Minute)}); got != nil {
		t.Errorf("the time before has %+v", got)
	}
}

// A replayed event is found by its own time, whatever its original was received
// at.
func TestSentEventsAreFound(t *testing.T) {
	e := openEngine(t, jetstream.Options{Dir: t.TempDir()})
	first := called(t, e, "abcdef", "webhook.first", time.Now().Add(-2*time.Hour))
	stored, err := e.Journal.Event(t.Context(), first.CorrelationID)
	if err != nil {
		t.Fatal(err)
	}
	stored.ReplayOf, stored.TraceID = stored.TraceID, sluice.NewTraceID("abcdef", time.Now())
	if _, err := e.Events.Accept(t.Context(), &stored, 0); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got := find(t, e, sluice.TraceQuery{TraceID: stored.TraceID})
		if len(got) != 1 || got[0].ReplayOf != first.TraceID || time.Since(got[0].Time) > time.Hour {
			t.Fatalf("found %+v", got)
		}
		wantCalls(t, "all of them", find(t, e, sluice.TraceQuery{TraceID: "abcdef"}), []sluice.Call{first, got[0]})
		forget(t, e)
	}
	message := sluice.Event{Key: "orders.new", TraceID: stored.TraceID, Hops: 1, ReceivedAt: time.Now(), PayloadType: sluice.Raw, PayloadEncoding: sluice.EncodingNone}
	if _, err := e.Events.Accept(t.Context(), &message, 0); err != nil {
		t.Fatal(err)
	}
	if got := find(t, e, sluice.TraceQuery{TraceID: stored.TraceID}); len(got) != 2 || got[0].Key != "orders.new" {
		t.Errorf("what followed from a call is not found with it: %+v", got)
	}
}

func TestBadCursorsAreRefused(t *testing.T) {
	e := openEngine(t, jetstream.Options{Dir: t.TempDir()})
	for _, cursor := range []string{"x", "1", "1-2", "1-2--3", "-1-2-3"} {
		_, _, err := e.Journal.Calls(t.Context(), sluice.TraceQuery{Limit: 1, Before: cursor})
		wantKind(t, err, sluice.Invalid)
		_, err = e.Journal.Follow(t.Context(), sluice.TailQuery{After: cursor})
		wantKind(t, err, sluice.Invalid)
	}
}

// Searches find the same, whether the index was kept, was lost in parts, or was
// never there.
func TestTheIndexMayBeLost(t *testing.T) {
	dir := t.TempDir()
	e := openEngine(t, jetstream.Options{Dir: dir})
	const calls, webhooks = 2*journal.Indexed + 100, 5
	var all sync.WaitGroup
	for worker := range 16 {
		all.Go(func() {
			for i := worker; i < calls; i += 16 {
				ev := event(sluice.NewTraceID(fmt.Sprint("hook0", i%webhooks), time.Now()))
				ev.EventKey = fmt.Sprint("webhook.", i%webhooks)
				if _, err := e.Events.Accept(t.Context(), ev, 0); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	count := func(what string) {
		t.Helper()
		for i := range webhooks {
			got := find(t, e, sluice.TraceQuery{TraceID: fmt.Sprint("hook0", i)})
			want := calls / webhooks
			if i < calls%webhooks {
				want++
			}
			if len(got) != want || len(slices.Compact(ids(got))) != want {
				t.Errorf("%s: webhook %d has %d calls, want %d", what, i, len(got), want)
			}
			if !slices.IsSortedFunc(got, func(a, b sluice.Call) int {
				return b.Time.Truncate(time.Second).Compare(a.Time.Truncate(time.Second))
			}) {
				t.Errorf("%s: calls are not newest first", what)
			}
		}
	}
	count("in memory")
	e.Close()
	e = openEngine(t, jetstream.Options{Dir: dir})
	count("stored")
	e = openEngine(t, jetstream.Options{Dir: crash(t, dir)})
	if err := e.Journal.ForgetBlock(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	count("lost in parts")
	forget(t, e)
	count("never there")
}

// tailing collects what a tail tells until enough of it is there.
func tailing(t *testing.T, e *jetstream.Engine, q sluice.TailQuery, enough int) (stop func() []sluice.TailEntry) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	entries, err := e.Journal.Follow(ctx, q)
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan []sluice.TailEntry, 1)
	go func() {
		defer cancel()
		var all []sluice.TailEntry
		for entry, err := range entries {
			if err != nil {
				t.Error(err)
			}
			if all = append(all, entry); len(all) == enough {
				break
			}
		}
		told <- all
	}()
	return func() []sluice.TailEntry { return <-told }
}

func TestATailTellsWhatHappens(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *jetstream.Engine, shared bool) {
		e := open()
		other := e
		if shared {
			other = open() // a tail also reports other nodes
		}
		key, owner := natstest.UniqueKey("tail"), owner()
		byKey := tailing(t, other, sluice.TailQuery{EventKey: key}, 4)
		byOwner := tailing(t, other, sluice.TailQuery{TraceID: owner}, 5)
		var want []string
		for range 3 {
			call := called(t, e, owner, key, time.Now())
			want = append(want, call.TraceID)
		}
		run := sluice.RunReport{Pipeline: "p", TraceID: want[0], EventKey: key, Status: sluice.StatusOK, Started: time.Now()}
		e.Journal.Hear(journal.Ran{RunReport: run})
		want = append(want, refused(e, owner, "payload-too-large").TraceID)
		called(t, e, "others", natstest.UniqueKey("other"), time.Now())

		told := byOwner()
		if len(told) != 5 || len(byKey()) != 4 {
			t.Fatalf("told of %d entries by the end of the token, want 5; and 4 by key", len(told))
		}
		var runs []string
		var calls []sluice.Call
		for _, entry := range told {
			var call sluice.Call
			if err := json.Unmarshal(entry.Data, &call); err != nil {
				t.Fatal(err)
			}
			if entry.Type == "run" {
				runs = append(runs, call.TraceID)
			} else {
				calls = append(calls, call)
			}
		}
		slices.Sort(want)
		if !slices.Equal(ids(calls), want) || !slices.Equal(runs, []string{run.TraceID}) {
			t.Errorf("told of calls %v and runs %v, want %v and %s", ids(calls), runs, want, run.TraceID)
		}
		for i, entry := range told[:4] {
			rest := tailing(t, other, sluice.TailQuery{TraceID: owner, After: entry.Position}, 4-i)()
			if !slices.Equal(contents(rest), contents(told[i+1:])) {
				t.Errorf("behind entry %d, a tail tells\n%v, want\n%v", i, contents(rest), contents(told[i+1:]))
			}
		}
	})
}

// contents returns what entries tell, in an order of its own: rejected calls and
// others are not told in a common order.
func contents(entries []sluice.TailEntry) (all []string) {
	for _, entry := range entries {
		all = append(all, entry.Type+" "+string(entry.Data))
	}
	slices.Sort(all)
	return all
}
