package jetstream

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"sluice"
	"sluice/jetstream/natstest"
)

func TestAnExternalEngineThatCantServeIsExplained(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*server.Options)
		want   string
	}{
		"no JetStream":      {func(o *server.Options) { o.JetStream = false }, "enable it"},
		"small max_payload": {func(o *server.Options) { o.MaxPayload = 1 << 20 }, "max_payload is 1048576 bytes; set it to 8388608"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			opts := natstest.Options()
			test.change(opts)
			e := openUnready(t, Options{URL: natstest.Start(opts).ClientURL(), Replicas: 1})
			natstest.Eventually(t, "the reason is told", func() bool {
				err := e.Ready()
				return err != nil && strings.Contains(err.Error(), test.want)
			})
			_, err := e.Events.Accept(t.Context(), event("abcdef:0123456789"), 0)
			wantKind(t, err, sluice.Unavailable)
		})
	}
}

func TestALimitOfTheEngineIsNamed(t *testing.T) {
	t.Parallel()
	none := server.JetStreamAccountLimits{MaxMemory: -1, MaxStore: -1, MaxStreams: -1, MaxConsumers: -1, MaxAckPending: -1}
	start := func(t *testing.T, change func(*server.JetStreamAccountLimits)) *Engine {
		t.Helper()
		s := natstest.Start(natstest.Options())
		limits := none
		change(&limits)
		if err := s.GlobalAccount().UpdateJetStreamLimits(map[string]server.JetStreamAccountLimits{"": limits}); err != nil {
			t.Fatal(err)
		}
		return openUnready(t, Options{URL: s.ClientURL(), Replicas: 1, ResultMaxBytes: 1 << 20})
	}
	for name, change := range map[string]func(*server.JetStreamAccountLimits){
		"max_streams":      func(l *server.JetStreamAccountLimits) { l.MaxStreams = 3 },
		"max_file":         func(l *server.JetStreamAccountLimits) { l.MaxStore = 64 << 20 },
		"max_stream_bytes": func(l *server.JetStreamAccountLimits) { l.StoreMaxStreamBytes = 64 << 20 },
	} {
		t.Run(name, func(t *testing.T) {
			e := start(t, change)
			natstest.Eventually(t, "the limit is named", func() bool {
				err := e.Ready()
				return err != nil && strings.Contains(err.Error(), "raise its "+name)
			})
		})
	}
	for name, change := range map[string]func(*server.JetStreamAccountLimits){
		"max_consumers":   func(l *server.JetStreamAccountLimits) { l.MaxConsumers = 1 },
		"max_ack_pending": func(l *server.JetStreamAccountLimits) { l.MaxAckPending = 10 },
	} {
		t.Run(name, func(t *testing.T) {
			e := start(t, change)
			select {
			case <-e.SetUp():
			case <-time.After(patience):
				t.Fatalf("the engine was not set up in time: %v", e.Ready())
			}
			bind(t, e, "first", "svc.event.first", 1)
			_, err := e.Queue.Bind(t.Context(), "svc.event.second", 16)
			wantKind(t, err, sluice.Unavailable)
			got := sluice.AsError(err)
			if got.Code != "engine-limit" || !strings.Contains(got.Message, "raise its "+name) || strings.Contains(got.Message, "Try again") {
				t.Errorf("it says %s: %s", got.Code, got.Message)
			}
		})
	}
}

func TestAnExternalEngineMayComeLater(t *testing.T) {
	t.Parallel()
	const nobody = "127.0.0.1:1"
	way := natstest.StartProxy(t, nobody)
	e := openUnready(t, Options{URL: way.URL, Replicas: 1})
	natstest.Eventually(t, "it says that the engine is not reachable", func() bool {
		return strings.Contains(e.Ready().Error(), "not reachable")
	})
	_, err := e.Webhooks.Get(t.Context(), "b82c8627-4ca1-4c7a-b273-2bfd67c02bcf")
	wantKind(t, err, sluice.Unavailable)

	way.LeadTo(natstest.Start(natstest.Options()).Addr().String())
	select {
	case <-e.SetUp():
	case <-time.After(patience):
		t.Fatal("the engine was not set up after it had come")
	}
	accept(t, e, "abcdef:0123456789")
}
