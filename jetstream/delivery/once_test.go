package delivery

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/stream"
)

// plain is a store of events that knows nothing of deliveries.
type plain struct {
	host   *stream.Host
	ids    correlation.IDs
	once   Once
	silent bool // it stores an event, and does not say so
	asked  atomic.Int64
}

func (p *plain) Accept(ctx context.Context, e *sluice.Event, wait time.Duration) (sluice.Result, error) {
	return p.AcceptBy(ctx, e, wait, func(ctx context.Context, subject string, _ nats.Header, data []byte) (uint64, error) {
		ack, err := p.host.JS.Publish(ctx, subject, data)
		if err != nil {
			return 0, err
		}
		return ack.Sequence, nil
	})
}

func (p *plain) AcceptBy(ctx context.Context, e *sluice.Event, _ time.Duration, write Write) (sluice.Result, error) {
	p.asked.Add(1)
	sequence, err := write(ctx, e.MessageKey(), nil, e.AppendJSON(nil))
	if err != nil {
		return sluice.Result{}, err
	}
	if p.silent {
		return sluice.Result{}, stream.NoAnswer(errors.New("silence"))
	}
	p.once.Stored(sequence, e)
	return sluice.Accepted(e.TraceID, p.ids.ID(sequence, e.TraceID), e.ReceivedAt), nil
}

// Result says that no result is kept any more.
func (p *plain) Result(context.Context, string, time.Duration) (sluice.Result, error) {
	return sluice.Result{}, sluice.Errorf(sluice.CodeResultGone, "It is gone.")
}

// onHost gives a host a server in this process, and makes a stream of events there.
func onHost(t *testing.T, h *stream.Host) jetstream.Stream {
	t.Helper()
	s, err := server.NewServer(&server.Options{DontListen: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir()})
	check(t, err)
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server did not start")
	}
	conn, err := nats.Connect("", nats.InProcessServer(s))
	check(t, err)
	check(t, h.Connect(conn, conn))
	events, err := h.OpenStream(t.Context(), h.JS, h.Config(jetstream.StreamConfig{
		Name: stream.Events, Subjects: []string{sluice.EventPrefix + ">", stream.DeliveryPrefix + ">"}, AllowDirect: true,
	}))
	check(t, err)
	return events
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestOnce: one event is made of a delivery, also if its first call was stored and
// nobody was told; what is no delivery passes.
func TestOnce(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	for name, h := range map[string]*stream.Host{"indexed": stream.NewEmbedded(log, ""), "marked": stream.NewExternal(log, 1)} {
		t.Run(name, func(t *testing.T) {
			events := onHost(t, h)
			store := &plain{host: h, ids: correlation.NewIDs(make([]byte, 32), 0)}
			if store.once = NewMarked(h, store); name == "indexed" {
				store.once = NewIndexed(h, 0, store)
			}
			running, stop := context.WithCancel(context.Background())
			t.Cleanup(func() { stop(); h.Disconnect(); h.Wait() })
			last := func() uint64 {
				info, err := events.Info(context.Background())
				check(t, err)
				return info.State.LastSeq
			}
			check(t, store.once.SetUp(t.Context(), running, Stored{Stream: events, IDs: store.ids, Durable: last}))
			h.SetReady()
			accept := func(id, body string) (sluice.Result, error) {
				now := time.Now().UTC()
				e := &sluice.Event{EventKey: "webhook.a", TraceID: sluice.NewTraceID("abcdef", now), ReceivedAt: now, Method: "POST"}
				if id != "" {
					e.Fingerprint = sluice.NewFingerprint("abcdef", id, []byte(body), time.Hour)
				}
				return store.once.Accept(t.Context(), e, 0)
			}
			first, err := accept("1", "body")
			check(t, err)
			again, err := accept("1", "body")
			if err != nil || !again.Duplicate || again.Differs || again.CorrelationID != first.CorrelationID || again.TraceID != first.TraceID {
				t.Errorf("repeated it is %+v, %v; first %+v", again, err, first)
			}
			if again, err = accept("1", "other"); err != nil || !again.Duplicate || !again.Differs {
				t.Errorf("with another body it is %+v, %v", again, err)
			}
			stored := last()
			for range 2 {
				if passed, err := accept("", ""); err != nil || passed.Duplicate {
					t.Errorf("what is no delivery is %+v, %v", passed, err)
				}
			}
			if last() != stored+2 {
				t.Errorf("there are %d messages more", last()-stored)
			}
			store.silent = true
			if _, err := accept("2", "body"); err == nil {
				t.Error("nobody was told, and it is accepted")
			}
			store.silent, stored = false, last()
			if again, err = accept("2", "body"); err != nil || !again.Duplicate || last() != stored {
				t.Errorf("after a doubt it is %+v, %v, and %d messages more", again, err, last()-stored)
			}
		})
	}
}
