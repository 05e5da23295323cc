package metrics_test

import (
	"context"
	"log/slog"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice"
	"sluice/jetstream"
	"sluice/jetstream/journal"
	"sluice/jetstream/natstest"
	"sluice/metrics"
)

// TestRunsAfterACrash: the runs and rejected calls that a process had not stored are counted from the journal, once,
// whenever their events came and whatever the clock said; and what comes meanwhile is counted once, too.
func TestRunsAfterACrash(t *testing.T) {
	for name, clock := range map[string]struct{ ran, crashed time.Duration }{
		"right":        {-time.Second, -2 * time.Second},
		"ahead":        {2 * time.Hour, -2 * time.Second},
		"was set back": {-time.Second, 2 * time.Hour},
		"was behind":   {-2 * time.Hour, -2 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) { testRunsAfterACrash(t, clock.ran, clock.crashed) })
	}
}

func testRunsAfterACrash(t *testing.T, ran, crashed time.Duration) {
	log := slog.New(slog.DiscardHandler)
	dir := t.TempDir()
	open := func() (*jetstream.Engine, *metrics.Minutes) {
		engine, err := jetstream.Open(t.Context(), jetstream.Options{
			Dir: dir, Box: natstest.Box, EventMaxAge: 8 * time.Hour, ResultTTL: time.Hour, EventMaxBytes: 64 << 20,
			Log: log,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(engine.Close)
		return engine, metrics.NewMinutes(engine.Minutes, engine.Hours, engine.Unfinished, log)
	}
	engine, m := open()
	came := time.Now().Add(-5 * time.Hour)
	old := &sluice.Event{
		EventKey: "webhook.old", Namespace: "default", TraceID: sluice.NewTraceID("abcdef", came), ReceivedAt: came,
		PayloadType: sluice.Raw, PayloadEncoding: sluice.EncodingNone, Method: "POST",
	}
	accepted, err := engine.Events.Accept(t.Context(), old, 0)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(ran)
	run := func(pipeline string, status sluice.Status, counts bool) {
		report := sluice.RunReport{
			TraceID: old.TraceID, CorrelationID: accepted.CorrelationID, EventKey: old.EventKey, Pipeline: pipeline,
			Status: status, Delivery: 1, Started: at, Duration: 10,
		}
		if pipeline == "asked for" {
			report.TraceID, report.CorrelationID, report.EventKey = sluice.NewTraceID(sluice.DirectCall, at), "", ""
		}
		engine.Journal.Hear(journal.Ran{RunReport: report})
		if counts && status != sluice.StatusSuperseded {
			m.Run(report)
		}
	}
	pass := func(counts bool) {
		engine.Journal.Hear(journal.Settled{Sequence: 1, TraceID: old.TraceID, Outcome: sluice.Outcome{
			Pipeline: "passed", Status: sluice.StatusPassed, Finished: at,
		}})
		if counts {
			m.Run(sluice.RunReport{Pipeline: "passed", Status: sluice.StatusPassed, Started: at})
		}
	}
	reject := func(counts bool) {
		call := sluice.Call{
			TraceID: sluice.NewTraceID("abcdef", at), EventKey: "webhook.strict", Time: at, Status: sluice.StatusRejected,
			StatusCode: 401,
		}
		engine.Journal.Hear(journal.Answered{Call: call})
		if counts {
			m.Call(call)
		}
	}
	all := func(counts bool) {
		run("failing", sluice.StatusError, counts)
		run("failing", sluice.StatusOK, counts)
		run("asked for", sluice.StatusOK, counts)
		run("asked for", sluice.StatusSuperseded, counts)
		pass(counts)
		reject(counts)
	}
	want := func(what string, times int, m *metrics.Minutes) {
		t.Helper()
		got := make(map[string]sluice.RunFigures)
		for _, name := range []string{"failing", "asked for", "passed"} {
			got[name] = m.Runs(t.Context(), func(of string) bool { return of == name }, 4).RunFigures
		}
		for _, hour := range m.LastHours(t.Context(), 4) {
			sum := got["all"]
			sum.Add(sluice.RunFigures{Runs: hour.Runs, Errors: hour.RunErrors, Passed: hour.Rejected})
			got["all"] = sum
		}
		for _, minute := range m.Last(t.Context(), 4*60) {
			sum := got["all by minutes"]
			sum.Add(sluice.RunFigures{Runs: minute.Runs, Errors: minute.RunErrors, Passed: minute.Rejected})
			got["all by minutes"] = sum
		}
		for _, of := range m.Webhooks(t.Context(), 4, "webhook.strict") {
			got["rejected"] = sluice.RunFigures{Passed: of.Rejected}
		}
		sum := sluice.RunFigures{Runs: 3 * times, Errors: times, Passed: times}
		wanted := map[string]sluice.RunFigures{
			"failing": {Runs: 2 * times, Errors: times}, "asked for": {Runs: times}, "passed": {Passed: times},
			"all": sum, "all by minutes": sum, "rejected": {Passed: times},
		}
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	all(true)
	m.Flush(t.Context())
	for range 2 { // counted in the memory of a process that crashed
		all(false)
	}
	engine.Close()

	engine, m = open()
	var heard []string
	m.FormerRun = func(r sluice.RunReport) { heard = append(heard, r.Pipeline+" "+string(r.Status)) }
	since := time.Now().Add(crashed)
	never := func(string) bool { return false }
	recount := m.Recount(engine.Journal, never, engine.Repaired, since)
	at = time.Now()
	all(true)
	engine.Journal.TellEnds(t.Context())
	if !recount(t.Context()) {
		t.Error("the recount did not come to its end")
	}
	want("after a crash", 4, m)
	if len(heard) != 9 {
		t.Errorf("these runs are told of: %v", heard)
	}
	m.Flush(t.Context())
	again := metrics.NewMinutes(engine.Minutes, engine.Hours, engine.Unfinished, log)
	again.Recount(engine.Journal, never, engine.Repaired, since)(t.Context()) // it knows less: the runs of this process
	want("after another crash", 4, again)
}

// TestWhatFailedRightBeforeACrash: a pipeline fails after a crash as it did before, since then and for that cause.
func TestWhatFailedRightBeforeACrash(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	engine, err := jetstream.Open(t.Context(), jetstream.Options{
		Dir: t.TempDir(), Box: natstest.Box, EventMaxAge: time.Hour, ResultTTL: time.Hour, Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	began := time.Now().UTC().Truncate(time.Second)
	run := func(pipeline string, seconds int, code string) sluice.RunReport {
		r := sluice.RunReport{
			Pipeline: pipeline, Status: sluice.StatusOK, Delivery: 1, Started: began.Add(time.Duration(seconds) * time.Second),
		}
		if code != "" {
			r.Status, r.Error = sluice.StatusError, &sluice.Problem{Code: code, Detail: "x"}
		}
		return r
	}
	first := metrics.NewFailing(engine.PipelineStates, log)
	first.Run(run("lasting", -60, "early"))
	first.Run(run("over", -60, "early"))
	stopped, stop := context.WithCancel(t.Context())
	stop()
	first.Keep(stopped)
	after := metrics.NewFailing(engine.PipelineStates, log)
	after.Run(run("going on", 0, ""))
	for _, former := range []sluice.RunReport{
		run("lasting", -60, "early"), run("over", -60, "early"), run("over", -3, ""), run("new", -4, "first"),
		run("lasting", -2, "late"), run("new", -2, "late"), run("going on", -2, "late"),
	} {
		after.Former(former)
	}
	got := make(map[string]string)
	for _, name := range []string{"lasting", "over", "new", "going on"} {
		if since := after.Since(&sluice.Pipeline{Name: name}); since != nil {
			got[name] = since.Sub(began).String() + " " + after.Cause(name)
		}
	}
	if want := map[string]string{"lasting": "-1m0s late: x", "new": "-4s late: x"}; !maps.Equal(got, want) {
		t.Errorf("after a crash these fail: %v", got)
	}
}
