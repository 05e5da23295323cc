package jetstream

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"sluice"
)

func TestAnExternalEngineThatCantServeIsExplained(t *testing.T) {
	tests := map[string]struct {
		change func(*server.Options)
		want   string
	}{
		"no JetStream":      {func(o *server.Options) { o.JetStream = false }, "enable it"},
		"small max_payload": {func(o *server.Options) { o.MaxPayload = 1 << 20 }, "max_payload is 1048576 bytes; set it to 8388608"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			opts := externalOptions()
			test.change(opts)
			e := openUnready(t, Options{URL: startExternal(opts).ClientURL(), Replicas: 1})
			eventually(t, "the reason is told", func() bool {
				err := e.Ready()
				return err != nil && strings.Contains(err.Error(), test.want)
			})
			_, err := e.Events().Accept(t.Context(), event("abcdef:0123456789"), 0)
			wantKind(t, err, sluice.Unavailable)
		})
	}
}

func TestAnExternalEngineMayComeLater(t *testing.T) {
	opts := externalOptions()
	s := startExternal(opts)
	opts.Port = s.Addr().(*net.TCPAddr).Port
	s.Shutdown()
	s.WaitForShutdown()
	e := openUnready(t, Options{URL: s.ClientURL(), Replicas: 1})
	eventually(t, "it says that the engine is not reachable", func() bool {
		return strings.Contains(e.Ready().Error(), "not reachable")
	})
	_, err := e.Webhooks().Webhook(t.Context(), "b82c8627-4ca1-4c7a-b273-2bfd67c02bcf")
	wantKind(t, err, sluice.Unavailable)

	startExternal(opts)
	select {
	case <-e.SetUp():
	case <-time.After(30 * time.Second):
		t.Fatal("the engine was not set up after it had come")
	}
	accept(t, e, "abcdef:0123456789")
}
