package jetstream

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice"
	"sluice/jetstream/journal"
	"sluice/jetstream/natstest"
	"sluice/jetstream/stream"
)

// filesWith returns the files below folders that have a text in them.
func filesWith(t *testing.T, text string, folders ...string) (found []string) {
	t.Helper()
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				content, err := os.ReadFile(name)
				if err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
				if bytes.Contains(content, []byte(text)) {
					found = append(found, name)
				}
			}
			return nil // the engine may have removed it meanwhile
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// inBackup returns the files that have a text in them after a backup was restored.
func inBackup(t *testing.T, e *Engine, text string) []string {
	t.Helper()
	folder := t.TempDir()
	check(t, restore(t, take(t, e), natstest.Setup{Dir: folder}))
	return filesWith(t, text, folder)
}

// personal accepts an event with a payload.
func personal(t *testing.T, e *Engine, key, text string) sluice.Result {
	t.Helper()
	event := keyed(key)
	event.Payload, event.PayloadEncoding = json.RawMessage(`{"email":"`+text+`"}`), sluice.EncodingJSON
	event.Method, event.ReceivedAt = "POST", time.Now().UTC()
	result, err := e.Events.Accept(t.Context(), event, patience)
	if err != nil {
		t.Fatal(err)
	}
	e.Journal.Hear(journal.Answered{Call: sluice.Call{TraceID: event.TraceID, CorrelationID: result.CorrelationID, EventKey: key, Time: event.ReceivedAt, Status: sluice.StatusOK, Listeners: result.Listeners, DeliveryID: "an id of " + text, RemoteAddr: "192.0.2.1"}})
	return result
}

// echo fails with what it got, which makes an outcome and a dead letter, and reports an
// exchange.
func echo(e *Engine, p *sluice.Pipeline, text string) func(sluice.Delivery) (sluice.Outcome, error) {
	return func(d sluice.Delivery) (sluice.Outcome, error) {
		failed := ok(p.Name, `"`+text+`"`)
		failed.Status, failed.Error = sluice.StatusError, &sluice.Problem{Code: "fail", Detail: text}
		e.Journal.Hear(journal.Ran{RunReport: sluice.RunReport{
			TraceID: d.TraceID, CorrelationID: d.CorrelationID, Pipeline: p.Name, Status: sluice.StatusError, Attempt: 1, Started: time.Now(),
			Error: failed.Error, Steps: []sluice.StepReport{{Command: "http.request", HTTP: &sluice.Exchange{Method: "POST", Request: text}}},
		}})
		return failed, nil
	}
}

func callOf(t *testing.T, e *Engine, traceID string) sluice.Call {
	t.Helper()
	calls, _, err := e.Journal.Calls(t.Context(), sluice.TraceQuery{TraceID: traceID, Limit: 10})
	if err != nil || len(calls) != 1 {
		t.Fatalf("there are the calls %+v (%v)", calls, err)
	}
	return calls[0]
}

// TestErased: nothing of an erased call is left in any file of the store, but that there was
// a call. Nothing counts as lost after that, and other calls are still there.
func TestErased(t *testing.T) {
	natstest.OnEverySetup(t, func(t *testing.T, s natstest.Setup) {
		if s.Replicas > 1 {
			return // its servers keep a log of their own for some minutes
		}
		opts := Options{Dir: s.Dir, URL: s.URL, Replicas: s.Replicas}
		e := openEngine(t, opts)
		key, folders := natstest.UniqueKey("erased"), []string{s.Dir}
		if s.Dir == "" {
			folders, _ = filepath.Glob(filepath.Join(os.TempDir(), "sluice-external-*"))
		}
		erased, other := "erased@"+key, "other@"+key
		p := bind(t, e, "echo"+strings.Split(key, ".")[1], sluice.EventPrefix+key, 16)
		stop := consume(t, e, p, echo(e, p, erased))
		result := personal(t, e, key, erased)
		stop()
		natstest.Eventually(t, "the dead letter is stored", func() bool { return deadLettersOf(t, e) > 0 })
		kept := personal(t, e, natstest.UniqueKey("kept"), other)
		call := callOf(t, e, result.TraceID)
		if len(call.Runs) != 1 || call.Runs[0].Steps[0].HTTP.Request != erased || len(filesWith(t, erased, folders...)) < 3 {
			t.Fatalf("the call is %+v, and its text in %v", call, filesWith(t, erased, folders...))
		}
		if err := e.Erasures.Erase(t.Context(), []sluice.Call{call}); err != nil {
			t.Fatal(err)
		}
		if err := e.Erasures.Erase(t.Context(), []sluice.Call{call}); err != nil {
			t.Fatalf("erasing it again gives %v", err)
		}
		for range 2 { // as after a kill in between
			if err := e.Erasures.finish(t.Context(), e.Erasures.List()); err != nil {
				t.Fatalf("finishing what is done gives %v", err)
			}
		}
		natstest.Eventually(t, "its text is gone", func() bool { return len(filesWith(t, erased, folders...)) == 0 })
		if len(filesWith(t, other, folders...)) == 0 {
			t.Error("the text of another call can't be found either")
		}
		call = callOf(t, e, result.TraceID)
		if !call.Erased || len(call.Runs) != 1 || call.Runs[0].Error.Code != "fail" || call.Runs[0].Steps[0].HTTP.Request != "" {
			t.Errorf("what remains is %+v", call)
		}
		if _, err := e.Journal.Event(t.Context(), result.CorrelationID); !sluice.CodeEventGone.Is(err) {
			t.Errorf("its event gives %v", err)
		}
		if _, err := e.Results.Result(t.Context(), result.CorrelationID, 0); sluice.AsError(err).Kind != sluice.Gone {
			t.Errorf("its result gives %v", err)
		}
		if len(inBackup(t, e, erased)) > 0 || len(inBackup(t, e, other)) == 0 {
			t.Error("a backup has its text, or lacks that of another call")
		}
		e.Close()
		if s.Dir != "" {
			pretendKill(t, s.Dir)
		}
		e = openEngine(t, opts)
		if warnings := strings.Join(e.Warnings(), ""); strings.Contains(warnings, "lost") {
			t.Errorf("after a restart the warnings are %q", warnings)
		}
		if _, err := e.Journal.Event(t.Context(), kept.CorrelationID); err != nil {
			t.Errorf("another event gives %v", err)
		}
		if list := e.Erasures.List(); len(list) == 0 || !callOf(t, e, result.TraceID).Erased {
			t.Errorf("after a restart there are the erasures %+v", list)
		}
	})
}

// TestErasureOfWhatTheEngineTakesForGone: the engine notes that a message is removed before it overwrites it. After
// a kill in between, or on a full disk, the next start overwrites it.
func TestErasureOfWhatTheEngineTakesForGone(t *testing.T) {
	opts := Options{Dir: t.TempDir()}
	e := openEngine(t, opts)
	const erased, other = "erased@example.com", "other@example.com"
	before := personal(t, e, natstest.UniqueKey("kept"), other)
	result := personal(t, e, natstest.UniqueKey("erased"), erased)
	after := personal(t, e, natstest.UniqueKey("kept"), other)
	call := callOf(t, e, result.TraceID)
	reference, _ := e.Stored.ids.Parse(result.CorrelationID)
	_, err := e.Erasures.note(t.Context(), sluice.Erasure{TraceID: call.TraceID, EventKey: call.EventKey, Time: call.Time, Events: []uint64{reference.Sequence}})
	check(t, err)
	check(t, e.forgotten.add(t.Context(), []uint64{reference.Sequence}))
	check(t, e.writeWatermarks(t.Context()))
	check(t, stream.Remove(t.Context(), e.Stored.stream, reference.Sequence, false))
	e.Close()
	pretendKill(t, opts.Dir)
	found := filesWith(t, erased, opts.Dir)
	if len(found) == 0 {
		t.Fatal("the engine has overwritten the event already")
	}
	draft, err := os.ReadFile(found[0])
	check(t, err)
	check(t, os.WriteFile(found[0]+".tmp", draft, 0o600))
	e = openEngine(t, opts)
	natstest.Eventually(t, "its text is gone", func() bool { return len(filesWith(t, erased, opts.Dir)) == 0 })
	if warnings := e.Warnings(); len(warnings) > 0 {
		t.Errorf("after a restart the warnings are %q", warnings)
	}
	for _, kept := range []sluice.Result{before, after} {
		if _, err := e.Journal.Event(t.Context(), kept.CorrelationID); err != nil {
			t.Errorf("another event gives %v", err)
		}
	}
}

// TestAnErasedCallStaysKnown: that there was a call is known after its erasure, even if a kill had taken
// what the journal knew of it before.
func TestAnErasedCallStaysKnown(t *testing.T) {
	e := openEngine(t, Options{Dir: t.TempDir()})
	received := keyed(natstest.UniqueKey("known"))
	received.Method, received.ReceivedAt = "POST", time.Now().UTC()
	sent := keyed(natstest.UniqueKey("known"))
	for _, event := range []*sluice.Event{received, sent} {
		if _, err := e.Events.Accept(t.Context(), event, 0); err != nil {
			t.Fatal(err)
		}
		check(t, e.Erasures.Erase(t.Context(), []sluice.Call{callOf(t, e, event.TraceID)}))
		if call := callOf(t, e, event.TraceID); !call.Erased || call.EventKey != event.EventKey || call.Status != sluice.StatusOK {
			t.Errorf("what remains is %+v", call)
		}
	}
}

// TestErasingFindsLettersBehindOlderOnes: the clock may have been set back since.
func TestErasingFindsLettersBehindOlderOnes(t *testing.T) {
	e := openEngine(t, Options{Dir: t.TempDir()})
	key := natstest.UniqueKey("letters")
	p := bind(t, e, "letters", sluice.EventPrefix+key, 16)
	finished := make(chan time.Time, 2)
	consume(t, e, p, func(d sluice.Delivery) (sluice.Outcome, error) {
		failed := ok(p.Name, "1")
		failed.Status, failed.Error, failed.Finished = sluice.StatusError, &sluice.Problem{Code: "fail"}, <-finished
		return failed, nil
	})
	finished <- time.Now()
	result := send(t, e, key, patience)
	finished <- time.Now().Add(-time.Hour)
	send(t, e, key, patience)
	natstest.Eventually(t, "there are two letters", func() bool { return deadLettersOf(t, e) == 2 })
	check(t, e.Erasures.Erase(t.Context(), []sluice.Call{callOf(t, e, result.TraceID)}))
	if n := deadLettersOf(t, e); n != 1 {
		t.Errorf("after one of two calls was erased there are %d letters", n)
	}
}

// TestAnErasedCallOutlivesTheViewsOfOthers: that there was a call is known however often other calls
// of the same time are erased, and by how many processes.
func TestAnErasedCallOutlivesTheViewsOfOthers(t *testing.T) {
	opts := Options{Dir: t.TempDir()}
	e := openEngine(t, opts)
	key := natstest.UniqueKey("known")
	erase := func(result sluice.Result) {
		t.Helper()
		check(t, e.Erasures.Erase(t.Context(), []sluice.Call{callOf(t, e, result.TraceID)}))
	}
	first := send(t, e, key, 0)
	erase(first)
	e.Close()
	e = openEngine(t, opts)
	for range 20 {
		erase(send(t, e, key, 0))
	}
	e.Close()
	e = openEngine(t, opts)
	if call := callOf(t, e, first.TraceID); !call.Erased {
		t.Errorf("what remains is %+v", call)
	}
}

// TestAnInterruptedErasureGoesOn: what was asked for and not done is done after the next start, and
// said to be erased only then. The call stays in the journal, without its delivery id.
func TestAnInterruptedErasureGoesOn(t *testing.T) {
	opts := Options{Dir: t.TempDir()}
	e := openEngine(t, opts)
	key := natstest.UniqueKey("interrupted")
	const text = "interrupted@example.com"
	result := personal(t, e, key, text)
	call := callOf(t, e, result.TraceID)
	reference, ok := e.Stored.ids.Parse(call.CorrelationID)
	if !ok {
		t.Fatalf("the call is %+v", call)
	}
	_, err := e.Erasures.note(t.Context(), sluice.Erasure{
		TraceID: call.TraceID, EventKey: key, Time: call.Time, Events: []uint64{reference.Sequence},
	})
	check(t, err)
	if callOf(t, e, result.TraceID).Erased {
		t.Error("it is said to be erased before it is")
	}
	e.Close()
	pretendKill(t, opts.Dir)
	streams := filepath.Join(opts.Dir, "jetstream", "$G", "streams")
	check(t, os.CopyFS(filepath.Join(opts.Dir, "damaged", "then"), os.DirFS(streams))) // as if it were set aside
	e = openEngine(t, opts)
	natstest.Eventually(t, "the erasure is done", func() bool { return e.Erasures.isDone(result.TraceID) })
	if left := filesWith(t, text, opts.Dir); len(left) > 0 {
		t.Errorf("its text is in %v", left)
	}
	if call := callOf(t, e, result.TraceID); !call.Erased || call.DeliveryID != "" || call.RemoteAddr != "" {
		t.Errorf("what remains is %+v", call)
	}
}

// TestKept: the events of a webhook go with all that was made of them when their time is
// over, whatever their pipelines do. Those of others stay.
func TestKept(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Engine, _ bool) {
		e := open()
		key, text := natstest.UniqueKey("kept"), "kept@example.com"
		p := bind(t, e, "echo"+strings.Split(key, ".")[1], sluice.EventPrefix+key, 16)
		stop := consume(t, e, p, echo(e, p, text))
		result, other := personal(t, e, key, text), send(t, e, natstest.UniqueKey("other"), 0)
		stop()
		waits := send(t, e, key, 0)
		_, err := natstest.Patiently(t.Context(), func() (*sluice.Webhook, error) {
			return e.Webhooks.Change(t.Context(), key, func(*sluice.Webhook, map[string]*sluice.Webhook) (*sluice.Webhook, error) {
				return &sluice.Webhook{UUID: key, EventKey: key, Settings: sluice.Settings[time.Duration]{Keep: time.Millisecond}}, nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{result.CorrelationID, waits.CorrelationID} {
			natstest.Eventually(t, "the event has gone", func() bool {
				_, err := e.Journal.Event(t.Context(), id)
				return sluice.CodeEventGone.Is(err)
			})
		}
		natstest.Eventually(t, "the exchange has gone", func() bool {
			runs := callOf(t, e, result.TraceID).Runs
			return len(runs) == 1 && runs[0].Steps[0].HTTP.Request == ""
		})
		letters, _, err := e.DeadLetters.Letters(t.Context(), sluice.DeadLetterQuery{Pipeline: p.Name, Limit: 10})
		if err != nil || len(letters) > 0 {
			t.Errorf("there are the dead letters %v (%v)", letters, err)
		}
		if _, err := e.Journal.Event(t.Context(), other.CorrelationID); err != nil {
			t.Errorf("an event of another webhook gives %v", err)
		}
	})
}

// TestForgottenAtBothEnds: neither the first nor the last event of the stream counts as lost,
// nor a whole block, if it was forgotten.
func TestForgottenAtBothEnds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := openEngine(t, Options{Dir: dir})
	var calls []sluice.Call
	for range 20 {
		result := send(t, e, "webhook.ends", 0)
		calls = append(calls, sluice.Call{TraceID: result.TraceID, CorrelationID: result.CorrelationID, Time: time.Now()})
	}
	check(t, e.Erasures.Erase(t.Context(), append(calls[:3:3], calls[17:]...)))
	for _, rest := range [][]sluice.Call{nil, calls[3:17]} {
		check(t, e.Erasures.Erase(t.Context(), rest))
		e.Close()
		pretendKill(t, dir)
		if findings, err := Check(dir, func(int64, int64) {}); err != nil || len(findings) > 0 {
			t.Errorf("a check finds %v (%v)", findings, err)
		}
		e = openEngine(t, Options{Dir: dir})
		if warnings := strings.Join(e.Warnings(), ""); strings.Contains(warnings, "lost") {
			t.Errorf("the warnings are %q", warnings)
		}
		accept(t, e, sluice.NewTraceID("abcdef", time.Now()))
	}
	if blocks := filesWith(t, "webhook.ends", filepath.Join(dir, "jetstream", "$G", "streams", stream.Events)); len(blocks) > 0 {
		t.Errorf("the key is still in %v", blocks)
	}
}

// TestErasedWhileItWaits: an event that is erased before its pipelines are done with it has failed, in the
// trace and in what is told of its call, once.
func TestErasedWhileItWaits(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]sluice.Status{
		"not run yet": "", "for its next attempt": sluice.StatusError, "for an answer": sluice.StatusProcessing,
		"for an answer, and is kept no longer": sluice.StatusProcessing,
	} {
		t.Run(name, func(t *testing.T) {
			isKept := !strings.Contains(name, "no longer")
			var mu sync.Mutex
			told := []sluice.Status{}
			e := openEngine(t, Options{Dir: t.TempDir(), ObserveEnd: func(end sluice.CallEnd) {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, end.Status)
			}})
			key := natstest.UniqueKey("waits")
			p := bind(t, e, "waits", sluice.EventPrefix+key, 16)
			received := keyed(key)
			received.Method, received.ReceivedAt = "POST", time.Now().UTC()
			result, err := e.Events.Accept(t.Context(), received, 0)
			check(t, err)
			if !isKept {
				e.Journal.Hear(journal.Answered{Call: sluice.Call{TraceID: received.TraceID, CorrelationID: result.CorrelationID, EventKey: key, Time: received.ReceivedAt, Status: sluice.StatusProcessing, Listeners: result.Listeners}})
			}
			want := []sluice.Status{sluice.StatusProcessing, sluice.StatusError}
			if run == sluice.StatusError {
				want[0] = sluice.StatusRetrying
			}
			if run != "" {
				consume(t, e, p, func(d sluice.Delivery) (sluice.Outcome, error) {
					e.Journal.Hear(journal.Ran{RunReport: sluice.RunReport{
						TraceID: d.TraceID, CorrelationID: d.CorrelationID, Pipeline: p.Name, Status: run, Attempt: 1, Started: time.Now(),
					}})
					again := ok(p.Name, "1")
					again.Status, again.Next = sluice.StatusProcessing, time.Now().Add(time.Hour)
					if run == sluice.StatusProcessing {
						again.Answered = func() bool { return false }
					}
					return again, nil
				})
				natstest.Eventually(t, "its run is known", func() bool { return len(callOf(t, e, received.TraceID).Runs) == 1 })
				natstest.Eventually(t, "it has left its place", func() bool { return waitsFor(t, e, p.Binding) })
			}
			natstest.Eventually(t, "it waits", func() bool { return callOf(t, e, received.TraceID).Status == want[0] })
			for range 2 {
				if isKept {
					check(t, e.Erasures.Erase(t.Context(), []sluice.Call{callOf(t, e, received.TraceID)}))
				} else {
					hook := &sluice.Webhook{UUID: "00000000-0000-4000-8000-0000008e28f2", EventKey: key, Settings: sluice.Settings[time.Duration]{Keep: time.Nanosecond}}
					e.keepers.follow(nil, hook)
					e.expireAll(t.Context(), make(map[string]*keeping), time.Now())
				}
			}
			if call := callOf(t, e, received.TraceID); call.Status != want[1] || call.Erased != isKept {
				t.Errorf("the call is %+v", call)
			}
			natstest.Eventually(t, "its end to be told", func() bool { // by its delivery, if that has just put it there
				e.Journal.TellEnds(t.Context())
				mu.Lock()
				defer mu.Unlock()
				return len(told) > 0
			})
			storePipeline(t, e, p.Name, nil)
			if call := callOf(t, e, received.TraceID); call.Status != want[1] {
				t.Errorf("without its pipeline it is %+v", call)
			}
			mu.Lock()
			defer mu.Unlock()
			if !slices.Equal(told, want[1:]) {
				t.Errorf("it is told to be %v, and not %v", told, want[1:])
			}
		})
	}
}

// TestErasedInAnAttempt: nothing waits of an event that is erased while it runs, or waits in its place, and its call
// is told of once. One that waits in its place does not run again.
func TestErasedInAnAttempt(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ attempt, concurrency int }{
		"the first": {1, 16}, "a later one": {2, 16}, "in order": {2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			told, runs, release := make(chan sluice.Status, 10), make(chan int, 10), make(chan struct{})
			e := openEngine(t, Options{Dir: t.TempDir(), ObserveEnd: func(end sluice.CallEnd) { told <- end.Status }})
			key := natstest.UniqueKey("attempt")
			p := bind(t, e, "attempt", sluice.EventPrefix+key, test.concurrency)
			received := keyed(key)
			received.Method, received.ReceivedAt = "POST", time.Now().UTC()
			_, err := e.Events.Accept(t.Context(), received, 0)
			check(t, err)
			stop := consume(t, e, p, func(d sluice.Delivery) (sluice.Outcome, error) {
				runs <- d.Attempts + 1
				again := ok(p.Name, "1")
				again.Status, again.Attempts = sluice.StatusProcessing, d.Attempts+1
				again.Next = time.Now().Add(10 * time.Millisecond)
				if again.Attempts == test.attempt {
					<-release
					again.Next = time.Now().Add(time.Hour)
				}
				e.Journal.Hear(journal.Ran{RunReport: sluice.RunReport{
					TraceID: d.TraceID, CorrelationID: d.CorrelationID, Pipeline: p.Name, Status: sluice.StatusError,
					Attempt: again.Attempts, Started: time.Now(),
				}})
				return again, nil
			})
			for attempt := range test.attempt {
				if got := <-runs; got != attempt+1 {
					t.Fatalf("attempt %d, want %d", got, attempt+1)
				}
			}
			if test.concurrency == 1 {
				close(release)
				natstest.Eventually(t, "its run is known", func() bool { return len(callOf(t, e, received.TraceID).Runs) == test.attempt })
			}
			check(t, e.Erasures.Erase(t.Context(), []sluice.Call{callOf(t, e, received.TraceID)}))
			if test.concurrency > 1 {
				close(release)
			}
			natstest.Eventually(t, "nothing waits of it", func() bool {
				return !waitsFor(t, e, p.Binding) && !e.Queue.Works(p.Name, 1)
			})
			stop()
			e.Journal.TellEnds(t.Context())
			if status := <-told; status != sluice.StatusError || len(told) > 0 {
				t.Errorf("it is told to be %s, and then %d more", status, len(told))
			}
			if len(runs) > 0 {
				t.Error("it runs again")
			}
		})
	}
}

// TestErasedAfterTheRestWent: what was made of an event and is gone already is in no file either once the
// event is erased: a copy for a later attempt, and a dead letter that was deleted. What is there of others
// stays: otherwise the files would go as a whole.
func TestErasedAfterTheRestWent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := openEngine(t, Options{Dir: dir})
	key := natstest.UniqueKey("rest")
	text := "rest@" + key
	p := bind(t, e, "rest", sluice.EventPrefix+key, 16)
	var mu sync.Mutex
	ends := map[string]bool{}
	consume(t, e, p, func(d sluice.Delivery) (sluice.Outcome, error) {
		mu.Lock()
		defer mu.Unlock()
		failed := ok(p.Name, "1")
		failed.Status, failed.Error = sluice.StatusError, &sluice.Problem{Code: "fail"}
		if ends[d.TraceID] {
			return failed, nil
		}
		failed.Status, failed.Attempts, failed.Next = sluice.StatusProcessing, 1, time.Now().Add(time.Hour)
		return failed, nil
	})
	accept := func(text string, status sluice.Status) (id string) {
		t.Helper()
		event := keyed(key)
		event.Payload, event.PayloadEncoding = json.RawMessage(`{"email":"`+text+`"}`), sluice.EncodingJSON
		_, err := e.Events.Accept(t.Context(), event, 0)
		check(t, err)
		id = event.TraceID
		natstest.Eventually(t, "it waits", func() bool { return callOf(t, e, id).Status == sluice.StatusRetrying })
		if status == sluice.StatusRetrying {
			return id
		}
		mu.Lock()
		ends[id] = true
		mu.Unlock()
		natstest.Eventually(t, "it failed", func() bool {
			e.Queue.Retry(sluice.RetryQuery{TraceID: id})
			return callOf(t, e, id).Status == status
		})
		return id
	}
	accept("first", sluice.StatusRetrying)
	accept("second", sluice.StatusError)
	erased := accept(text, sluice.StatusError)
	letters, _, err := e.DeadLetters.Letters(t.Context(), sluice.DeadLetterQuery{Limit: 1}) // the newest
	check(t, err)
	check(t, e.DeadLetters.Drop(t.Context(), letters[0].Letter))
	check(t, e.Erasures.Erase(t.Context(), []sluice.Call{callOf(t, e, erased)}))
	natstest.Eventually(t, "its text is gone", func() bool { return len(filesWith(t, text, dir)) == 0 })
}

// TestErasedBeforeItWasWrittenDown: what the journal hears of a call that was erased meanwhile, or of a replay
// of it, is written without what it held.
func TestErasedBeforeItWasWrittenDown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := openEngine(t, Options{Dir: dir})
	key := natstest.UniqueKey("late")
	text := "late@" + key
	event := keyed(key)
	event.Method, event.ReceivedAt, event.DeliveryID = "POST", time.Now().UTC(), text
	result, err := e.Events.Accept(t.Context(), event, 0)
	check(t, err)
	again := keyed(key)
	again.ReplayOf, again.DeliveryID = event.TraceID, text
	replay, err := e.Events.Accept(t.Context(), again, 0)
	check(t, err)
	var calls []sluice.Call
	for _, traceID := range []string{event.TraceID, replay.TraceID} {
		call := callOf(t, e, traceID)
		if call.DeliveryID != text {
			t.Fatalf("there is the call %+v", call)
		}
		calls = append(calls, call)
	}
	check(t, e.Erasures.Erase(t.Context(), calls))
	e.Journal.Hear(journal.Answered{Call: calls[0]})
	e.Journal.Hear(journal.Ran{RunReport: sluice.RunReport{
		TraceID: event.TraceID, CorrelationID: result.CorrelationID, Pipeline: "late", Status: sluice.StatusError,
		Error: &sluice.Problem{Code: "fail", Detail: text}, Steps: []sluice.StepReport{},
	}})
	if call := callOf(t, e, event.TraceID); call.DeliveryID != "" || call.Runs[0].Error.Code != "fail" || call.Runs[0].Error.Detail != "" {
		t.Errorf("what remains is %+v", call)
	}
	if left := filesWith(t, text, dir); len(left) > 0 {
		t.Errorf("its text is in %v", left)
	}
}

// TestErasedBeforeAnotherNodeWroteItDown: nothing stays of what a node had heard when another node erased it, though
// the engine gets that afterwards.
func TestErasedBeforeAnotherNodeWroteItDown(t *testing.T) {
	natstest.OnEverySetup(t, func(t *testing.T, s natstest.Setup) {
		if s.Dir != "" || s.Replicas > 1 {
			return // it has no other nodes; its servers keep a log of their own for some minutes
		}
		server, err := url.Parse(s.URL)
		check(t, err)
		proxy := natstest.StartProxy(t, server.Host)
		e := openEngine(t, Options{URL: s.URL, Replicas: s.Replicas})
		other := openEngine(t, Options{URL: proxy.URL, Replicas: s.Replicas})
		key := natstest.UniqueKey("elsewhere")
		text := "elsewhere@" + key
		event := keyed(key)
		event.Method, event.ReceivedAt = "POST", time.Now().UTC()
		result, err := e.Events.Accept(t.Context(), event, 0)
		check(t, err)
		call := callOf(t, e, event.TraceID)
		proxy.Hang()
		other.Journal.Hear(journal.Ran{RunReport: sluice.RunReport{
			TraceID: event.TraceID, CorrelationID: result.CorrelationID, Pipeline: "late", Status: sluice.StatusError,
			Error: &sluice.Problem{Code: "fail", Detail: text}, Steps: []sluice.StepReport{},
		}})
		if err := other.Journal.Hide(t.Context(), nil, true); err == nil {
			t.Fatal("the engine took it though it hangs")
		}
		check(t, e.Erasures.Erase(t.Context(), []sluice.Call{call}))
		proxy.GoOn()
		natstest.Eventually(t, "its run is known", func() bool { return len(callOf(t, e, event.TraceID).Runs) == 1 })
		folders, _ := filepath.Glob(filepath.Join(os.TempDir(), "sluice-external-*"))
		natstest.Eventually(t, "its text is gone", func() bool { return len(filesWith(t, text, folders...)) == 0 })
	})
}

// TestErasedWithWhatWasSentLater: what runs of a call have sent is erased with it, also by an attempt hours
// later, and what was sent of that in turn.
func TestErasedWithWhatWasSentLater(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := openEngine(t, Options{Dir: dir})
	key := natstest.UniqueKey("sent.later")
	text := "later@" + key
	first := personal(t, e, key, text)
	before := first
	for i := range 2 {
		sent := keyed(key + ".sent")
		sent.TraceID, sent.Hops = first.TraceID, i+1
		sent.Payload, sent.PayloadEncoding = json.RawMessage(`{"email":"`+text+`"}`), sluice.EncodingJSON
		result, err := e.Events.Accept(t.Context(), sent, 0)
		check(t, err)
		reference, _ := e.Stored.ids.Parse(result.CorrelationID)
		e.Journal.Hear(journal.Ran{RunReport: sluice.RunReport{
			TraceID: first.TraceID, CorrelationID: before.CorrelationID, Pipeline: "later",
			Status: sluice.StatusOK, Steps: []sluice.StepReport{}, Sent: []uint64{reference.Sequence},
		}})
		before = result
	}
	call := sluice.Call{TraceID: first.TraceID, EventKey: key, CorrelationID: first.CorrelationID, Time: time.Now()}
	check(t, e.Erasures.Erase(t.Context(), []sluice.Call{call})) // a search finds what came soon after its call
	if left := filesWith(t, text, dir); len(left) > 0 {
		t.Errorf("its text is in %v", left)
	}
}

// TestErasedAtOnce: what is erased at the same time as others is gone with them. The journal keeps what it knows
// of successive calls together.
func TestErasedAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := openEngine(t, Options{Dir: dir})
	key := natstest.UniqueKey("at.once")
	results := make([]sluice.Result, 20)
	for i := range results {
		results[i] = personal(t, e, key, "erased@"+key)
	}
	var work sync.WaitGroup
	for _, result := range results {
		call := callOf(t, e, result.TraceID)
		work.Go(func() {
			if err := e.Erasures.Erase(t.Context(), []sluice.Call{call}); err != nil {
				t.Error(err)
			}
		})
	}
	work.Wait()
	if left := filesWith(t, "erased@"+key, dir); len(left) > 0 {
		t.Errorf("their text is in %v", left)
	}
}
