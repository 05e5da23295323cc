package metrics_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"sluice"
	"sluice/jetstream"
	"sluice/jetstream/journal"
	"sluice/jetstream/natstest"
	"sluice/metrics"
)

// TestRecountAfterACrash: what a process had not stored of its counts is counted from the journal,
// once; what comes meanwhile is counted once, too.
func TestRecountAfterACrash(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	engine, err := jetstream.Open(t.Context(), jetstream.Options{
		Dir: t.TempDir(), Box: natstest.Box, EventMaxAge: time.Hour, ResultTTL: time.Hour, EventMaxBytes: 64 << 20, Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	const key = "webhook.counted"
	var ahead time.Duration // of the clock
	kind := "early"
	accept := func(m *metrics.Minutes) sluice.Call {
		t.Helper()
		now := time.Now().UTC()
		switch {
		case kind == "early":
			now = now.Add(-2 * time.Second)
		case m == nil:
			now = now.Add(ahead - time.Second) // a process needs longer than that to start
		}
		e := &sluice.Event{
			EventKey: key, Namespace: "default", TraceID: sluice.NewTraceID("abcdef", now), ReceivedAt: now,
			PayloadType: sluice.Raw, PayloadEncoding: sluice.EncodingNone, Method: "POST",
			Type: kind,
		}
		result, err := engine.Events.Accept(t.Context(), e, 0)
		if err != nil {
			t.Fatal(err)
		}
		call := sluice.Call{
			TraceID: e.TraceID, CorrelationID: result.CorrelationID, EventKey: key, Type: kind, Time: now, Status: sluice.StatusOK,
			StatusCode: 200, Duration: 1,
		}
		engine.Journal.Hear(journal.Answered{Call: call})
		if m != nil {
			m.Call(call)
			m.Settled(sluice.CallEnd{EventKey: key, TraceID: call.TraceID, Status: sluice.StatusOK})
		}
		return call
	}
	figures := func(m *metrics.Minutes) sluice.CallFigures {
		t.Helper()
		var sum sluice.CallFigures
		for _, of := range m.Webhooks(t.Context(), 3, "") {
			sum.Add(of.CallFigures)
			kinds := make(map[string]int)
			for _, of := range of.Types {
				kinds[of.Type] = of.Calls
			}
			if kinds["early"] != 2 || kinds["late"] != of.Accepted-2 {
				t.Errorf("%d calls are of the kinds %v", of.Accepted, kinds)
			}
		}
		return sum
	}
	first := metrics.NewMinutes(engine.Minutes, engine.Hours, engine.Unfinished, log)
	accept(first)
	accept(first)
	stored, stop := context.WithCancel(t.Context())
	stop()
	first.Keep(stored) // stores what there is, and ends
	kind = "late"
	for range 3 {
		accept(nil) // counted in the memory of a process that crashed
	}
	last, late := accept(nil), accept(nil)
	ahead = 2 * time.Hour
	hasty := accept(nil)
	second := metrics.NewMinutes(engine.Minutes, engine.Hours, engine.Unfinished, log)
	journal := &unsteady{Journal: engine.Journal, away: 1}
	recount := second.Recount(journal, engine.StoredBefore(), engine.Repaired, time.Now().Add(-5*time.Second))
	accept(second)
	for _, again := range []sluice.Call{last, hasty} { // told by an engine that has just started
		second.Settled(sluice.CallEnd{EventKey: key, TraceID: again.TraceID, Status: sluice.StatusOK})
	}
	if !recount(t.Context()) {
		t.Error("the recount did not come to its end")
	}
	second.Settled(sluice.CallEnd{EventKey: key, TraceID: late.TraceID, Status: sluice.StatusOK}) // by a journal that was written late
	if got := figures(second); got.Accepted != 9 || got.OK != 9 {
		t.Errorf("after a crash the figures are %+v", got)
	}
	third := metrics.NewMinutes(engine.Minutes, engine.Hours, engine.Unfinished, log)
	third.Recount(engine.Journal, func(string) bool { return false }, engine.Repaired, time.Now())(t.Context())
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if third.Recount(engine.Journal, func(string) bool { return true }, engine.Repaired, time.Now())(stopped) {
		t.Error("a recount that was cut off says that it came to its end")
	}
	if got := figures(third); got.Accepted != 8 || got.OK != 8 {
		t.Errorf("a journal that has forgotten calls makes the figures %+v", got)
	}
}

// TestRecountOfWhatReplaysRepaired: what a crash takes of a repaired call's figures is counted anew, however long
// ago the call came.
func TestRecountOfWhatReplaysRepaired(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	engine, err := jetstream.Open(t.Context(), jetstream.Options{
		Dir: t.TempDir(), Box: natstest.Box, EventMaxAge: time.Hour, ResultTTL: time.Hour, EventMaxBytes: 64 << 20, Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	came := time.Now().UTC().Add(-3 * time.Hour)
	e := &sluice.Event{
		EventKey: "webhook.old", Namespace: "default", TraceID: sluice.NewTraceID("abcdef", came), ReceivedAt: came,
		PayloadType: sluice.Raw, PayloadEncoding: sluice.EncodingNone, Method: "POST",
	}
	accepted, err := engine.Events.Accept(t.Context(), e, 0)
	if err != nil {
		t.Fatal(err)
	}
	call := sluice.Call{
		TraceID: e.TraceID, CorrelationID: accepted.CorrelationID, EventKey: e.EventKey, Time: came, Status: sluice.StatusOK,
		StatusCode: 200,
	}
	engine.Journal.Hear(journal.Answered{Call: call})
	first := metrics.NewMinutes(engine.Minutes, engine.Hours, engine.Unfinished, log)
	first.Call(call)
	first.Settled(sluice.CallEnd{EventKey: e.EventKey, TraceID: e.TraceID, Status: sluice.StatusError})
	first.Flush(t.Context())
	second := metrics.NewMinutes(engine.Minutes, engine.Hours, engine.Unfinished, log)
	repaired := func(context.Context) []time.Time { return []time.Time{came} }
	second.Recount(timeless{engine.Journal}, engine.StoredBefore(), repaired, time.Now())(t.Context())
	var sum sluice.CallFigures
	for _, of := range second.Webhooks(t.Context(), 6, "") {
		sum.Add(of.CallFigures)
	}
	if sum.OK != 1 || sum.Error != 0 {
		t.Errorf("the figures are %+v", sum)
	}
}

// timeless is a journal that takes events for old that were stored just now.
type timeless struct{ sluice.Journal }

func (j timeless) Calls(ctx context.Context, q sluice.TraceQuery) ([]sluice.Call, string, error) {
	q.From, q.To = time.Time{}, time.Time{}
	return j.Journal.Calls(ctx, q)
}

// unsteady is a journal that can't be asked at first.
type unsteady struct {
	sluice.Journal
	away int // how often
}

func (j *unsteady) Calls(ctx context.Context, q sluice.TraceQuery) ([]sluice.Call, string, error) {
	if j.away--; j.away >= 0 {
		return nil, "", errors.New("the disk is full")
	}
	return j.Journal.Calls(ctx, q)
}
