package stream

import (
	"context"
	"log/slog"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/jetstream/natstest"
)

// TestAFollowerGoesOn: where the client library ends, a follower begins anew behind
// what it has read.
func TestAFollowerGoesOn(t *testing.T) {
	check := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	server := natstest.Start(natstest.Options())
	conn, err := nats.Connect(server.ClientURL())
	check(t, err)
	defer conn.Close()
	js, err := jetstream.New(conn)
	check(t, err)
	s, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}})
	check(t, err)
	publish := func(text string) {
		_, err := js.Publish(t.Context(), "s", []byte(text))
		check(t, err)
	}
	publish("a")
	publish("b")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f, err := NewExternal(slog.New(slog.DiscardHandler), 1).Follow(ctx, s, jetstream.OrderedConsumerConfig{})
	check(t, err)
	defer f.Stop()
	if f.Pending != 2 {
		t.Errorf("%d messages were there", f.Pending)
	}
	for _, want := range []string{"a", "b", "c"} {
		msg, _, err := f.Next(ctx)
		check(t, err)
		if string(msg.Data()) != want {
			t.Fatalf("got %q, want %q", msg.Data(), want)
		}
		if want == "b" {
			f.messages.Stop()
			publish("c")
		}
	}
	cancel()
	if _, _, err := f.Next(ctx); err == nil {
		t.Error("it goes on although it has ended")
	}
}
