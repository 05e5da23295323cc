package metrics_test

import (
	"context"
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
	accept := func(m *metrics.Minutes) sluice.Call {
		t.Helper()
		now := time.Now().UTC()
		if m == nil {
			now = now.Add(-time.Second) // a process needs longer than that to start
		}
		e := &sluice.Event{
			EventKey: key, Namespace: "default", TraceID: sluice.NewTraceID("abcdef", now), ReceivedAt: now,
			PayloadType: sluice.Raw, PayloadEncoding: sluice.EncodingNone, Method: "POST",
		}
		result, err := engine.Events.Accept(t.Context(), e, 0)
		if err != nil {
			t.Fatal(err)
		}
		call := sluice.Call{
			TraceID: e.TraceID, CorrelationID: result.CorrelationID, EventKey: key, Time: now, Status: sluice.StatusOK,
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
		for _, of := range m.Webhooks(t.Context(), 3) {
			sum.Add(of.CallFigures)
		}
		return sum
	}
	first := metrics.NewMinutes(engine.Minutes, engine.Hours, engine.Unfinished, log)
	accept(first)
	accept(first)
	stored, stop := context.WithCancel(t.Context())
	stop()
	first.Keep(stored) // stores what there is, and ends
	for range 3 {
		accept(nil) // counted in the memory of a process that crashed
	}
	last, late := accept(nil), accept(nil)
	second := metrics.NewMinutes(engine.Minutes, engine.Hours, engine.Unfinished, log)
	recount := second.Recount(engine.Journal, engine.StoredBefore(), time.Now().Add(-5*time.Second))
	accept(second)
	second.Settled(sluice.CallEnd{EventKey: key, TraceID: last.TraceID, Status: sluice.StatusOK}) // told again by an engine that has just started
	recount(t.Context())
	second.Settled(sluice.CallEnd{EventKey: key, TraceID: late.TraceID, Status: sluice.StatusOK}) // by a journal that was written late
	if got := figures(second); got.Accepted != 8 || got.OK != 8 {
		t.Errorf("after a crash the figures are %+v", got)
	}
	third := metrics.NewMinutes(engine.Minutes, engine.Hours, engine.Unfinished, log)
	third.Recount(engine.Journal, func(string) bool { return false }, time.Now())(t.Context())
	if got := figures(third); got.Accepted != 7 || got.OK != 7 {
		t.Errorf("a journal that has forgotten calls makes the figures %+v", got)
	}
}
