package stream

import (
	"context"
	"log/slog"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/jetstream/natstest"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// written returns a stream, its host, and what publishes to it.
func written(t *testing.T) (h *Host, s jetstream.Stream, publish func(text string)) {
	t.Helper()
	server := natstest.Start(natstest.Options())
	conn, err := nats.Connect(server.ClientURL())
	check(t, err)
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	check(t, err)
	s, err = js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}})
	check(t, err)
	h = NewExternal(slog.New(slog.DiscardHandler), 1)
	h.Conn = conn
	return h, s, func(text string) {
		t.Helper()
		_, err := js.Publish(t.Context(), "s", []byte(text))
		check(t, err)
	}
}

// TestAFollowerGoesOn: where the client library ends, a follower begins anew behind
// what it has read.
func TestAFollowerGoesOn(t *testing.T) {
	h, s, publish := written(t)
	publish("a")
	publish("b")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f, err := h.Follow(ctx, s, jetstream.OrderedConsumerConfig{})
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

// TestAFollowerAsksAgain: the engine may lose what it was asked for, as while a cluster finds a leader.
func TestAFollowerAsksAgain(t *testing.T) {
	h, s, publish := written(t)
	publish("a")
	f, err := h.Follow(t.Context(), s, jetstream.OrderedConsumerConfig{})
	check(t, err)
	defer f.Stop()
	f.messages.Stop()
	f.consumer, err = s.OrderedConsumer(t.Context(), jetstream.OrderedConsumerConfig{})
	check(t, err)
	f.messages = silent{}
	if msg, _, err := f.Next(t.Context()); err != nil || msg == nil || string(msg.Data()) != "a" {
		t.Errorf("it gets %v (%v)", msg, err)
	}
}

// silent is what the client library has of a request that the engine has lost.
type silent struct{ jetstream.MessagesContext }

func (silent) Next(...jetstream.NextOpt) (jetstream.Msg, error) { return nil, nats.ErrTimeout }
func (silent) Stop()                                            {}

// TestWhatWasRemovedIsNotWaitedFor: messages that are removed before a follower gets them never come.
func TestWhatWasRemovedIsNotWaitedFor(t *testing.T) {
	h, s, publish := written(t)
	const many = 2000 // more than a client asks for at a time
	for range many {
		publish("earlier")
	}
	f, err := h.Follow(t.Context(), s, jetstream.OrderedConsumerConfig{})
	check(t, err)
	defer f.Stop()
	check(t, s.Purge(t.Context()))
	visited := 0
	check(t, f.Stored(t.Context(), func(jetstream.Msg, *jetstream.MsgMetadata) { visited++ }))
	if visited == many {
		t.Error("nothing was removed in time")
	}
	publish("later")
	if msg, _, err := f.Next(t.Context()); err != nil || msg == nil || string(msg.Data()) != "later" {
		t.Errorf("then it gets %v (%v)", msg, err)
	}
}
