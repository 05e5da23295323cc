package spool

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/stream"
)

// away is a store of events on an engine that answers with an error, nil if it takes
// them.
type away struct{ err error }

func (a *away) Accept(context.Context, *sluice.Event, time.Duration) (sluice.Result, error) {
	return sluice.Result{Status: sluice.StatusOK}, a.err
}

func (a *away) Result(context.Context, string, time.Duration) (sluice.Result, error) {
	return sluice.Result{Status: sluice.StatusOK}, a.err
}

// batched is a stream of an engine that takes batches.
type batched struct{ jetstream.Stream }

func (batched) CachedInfo() *jetstream.StreamInfo {
	return &jetstream.StreamInfo{Config: jetstream.StreamConfig{AllowAtomicPublish: true}}
}

// openSpool opens a spool on a server in this process.
func openSpool(t *testing.T) *Spool {
	t.Helper()
	s, err := server.NewServer(&server.Options{DontListen: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server did not start")
	}
	conn, err := nats.Connect("", nats.InProcessServer(s))
	if err != nil {
		t.Fatal(err)
	}
	h := stream.NewEmbedded(slog.New(slog.DiscardHandler), t.TempDir())
	if err := h.Connect(conn, conn); err != nil {
		t.Fatal(err)
	}
	running, stop := context.WithCancel(context.Background())
	t.Cleanup(func() { stop(); h.Disconnect(); h.Wait() })
	opened, err := Open(t.Context(), running, h, 1<<20, 1<<10)
	if err != nil {
		t.Fatal(err)
	}
	h.SetReady()
	return opened
}

// TestFallback: calls go to the spool while the engine is away, and their results are
// found there; nothing else does, and no other error leads there.
func TestFallback(t *testing.T) {
	engine, host := new(away), stream.NewExternal(slog.New(slog.DiscardHandler), 1)
	f := &Fallback{
		Spool: openSpool(t), Events: engine, Results: engine, Host: host,
		Address: func(*sluice.Event) (string, []string, error) { return "svc.event.webhook.a", []string{"p"}, nil },
		Encode:  func(e *sluice.Event, space []byte) ([]byte, error) { return e.AppendJSON(space), nil },
	}
	f.SetUp(correlation.NewIDs(make([]byte, 32), 0), batched{})
	now := time.Now().UTC()
	call := &sluice.Event{EventKey: "webhook.a", TraceID: sluice.NewTraceID("abcdef", now), ReceivedAt: now, Method: "POST"}
	accept := func(e *sluice.Event, fails error) (sluice.Result, error) {
		engine.err = fails
		return f.Accept(t.Context(), e, 0)
	}
	gone := sluice.Passing(sluice.CodeEngineUnavailable, "It is away.")
	if _, err := accept(call, gone); err == nil {
		t.Error("a node that has never reached the engine takes a call")
	}
	host.SetReady()
	if result, err := accept(call, nil); err != nil || result.Spooled {
		t.Errorf("with an engine it is %+v, %v", result, err)
	}
	replay := *call
	replay.ReplayOf = call.TraceID
	for what, e := range map[string]*sluice.Event{"a replay": &replay, "a message": {Key: "m", TraceID: call.TraceID}} {
		if _, err := accept(e, gone); err == nil {
			t.Errorf("%s is spooled", what)
		}
	}
	if _, err := accept(call, sluice.Passing(sluice.CodeStorageFull, "It is full.")); err == nil {
		t.Error("a call is spooled though the engine is there")
	}
	if n := f.Spool.Count(); n != 0 {
		t.Fatalf("%d calls wait", n)
	}
	result, err := accept(call, gone)
	if err != nil || !result.Spooled || result.Status != sluice.StatusProcessing || len(result.Listeners) != 1 || call.Listeners != nil {
		t.Fatalf("it is %+v, %v; the event has %v", result, err, call.Listeners)
	}
	if n := f.Spool.Count(); n != 1 {
		t.Errorf("%d calls wait", n)
	}
	if polled, err := f.Result(t.Context(), result.CorrelationID, 0); err != nil || polled.Status != sluice.StatusProcessing || polled.TraceID != call.TraceID {
		t.Errorf("its result is %+v, %v", polled, err)
	}
	engine.err = nil
	if polled, err := f.Result(t.Context(), "00000000-0000-4000-8000-000000000000", 0); err != nil || polled.Status != sluice.StatusOK {
		t.Errorf("another one's result is %+v, %v", polled, err)
	}
}
