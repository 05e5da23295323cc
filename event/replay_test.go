package event_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice"
	"sluice/command"
	"sluice/event"
	"sluice/jetstream"
	"sluice/jetstream/natstest"
)

// A store is a real engine whose calls can be counted.
type store struct {
	*jetstream.Engine
	accepted func(*sluice.Event) // is told of each event before it is stored
}

func open(t *testing.T) *store {
	t.Helper()
	e, err := jetstream.Open(t.Context(), jetstream.Options{
		Dir: t.TempDir(), Box: natstest.Box, EventMaxAge: time.Hour, ResultTTL: time.Hour, EventMaxBytes: 256 << 20, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return &store{e, func(*sluice.Event) {}}
}

// Accept implements sluice.Events.
func (s *store) Accept(ctx context.Context, e *sluice.Event, wait time.Duration) (sluice.Result, error) {
	s.accepted(e)
	return s.Events().Accept(ctx, e, wait)
}

// fill stores events of one key.
func (s *store) fill(t *testing.T, key string, n int) {
	t.Helper()
	var all sync.WaitGroup
	for worker := range 64 {
		all.Go(func() {
			for i := worker; i < n; i += 64 {
				now := time.Now()
				_, err := s.Events().Accept(t.Context(), &sluice.Event{
					EventKey: key, TraceID: sluice.NewTraceID("abcdef", now), ReceivedAt: now, Payload: fmt.Append(nil, i),
					PayloadType: sluice.Raw, PayloadEncoding: sluice.EncodingJSON,
				}, 0)
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

func (s *store) replay(ctx context.Context, key string, rate int) (any, error) {
	return s.run(ctx, command.Args{
		{Name: "eventKey", Value: key}, {Name: "rate", Value: rate},
		{Name: "from", Value: time.Now().Add(-time.Hour).Format(time.RFC3339)},
		{Name: "to", Value: time.Now().Add(time.Hour).Format(time.RFC3339)},
	})
}

func (s *store) run(ctx context.Context, args command.Args) (any, error) {
	set := command.NewSet(func(context.Context, sluice.AuditEntry) {}, event.Commands(event.Options{Events: s, Stored: s.Stored(), Journal: s.Journal(), Namespace: "default"}))
	cmd, _ := set.Find("event.replay")
	return set.Call(sluice.WithUser(ctx, sluice.User{Permissions: []string{"*"}}), cmd, args)
}

func TestReplaysKeepTheirOrder(t *testing.T) {
	s := open(t)
	const events = 300
	s.fill(t, "webhook.some", events)
	var times []time.Time
	s.accepted = func(e *sluice.Event) {
		at, _ := sluice.TraceTime(e.ReplayOf)
		times = append(times, at)
	}
	if _, err := s.replay(t.Context(), "webhook.some", 1000); err != nil {
		t.Fatal(err)
	}
	if len(times) != events {
		t.Fatalf("%d events are replayed, want %d", len(times), events)
	}
	for i := 1; i < events; i++ {
		if times[i].Before(times[i-1]) {
			t.Fatalf("event %d is older than the one before it", i)
		}
	}
}

func TestTooManyReplaysAreRefused(t *testing.T) {
	s := open(t)
	s.fill(t, "webhook.many", 10_001)
	s.accepted = func(*sluice.Event) { t.Error("one was replayed") }
	_, err := s.replay(t.Context(), "webhook.many", 1000)
	if e := sluice.AsError(err); e.Kind != sluice.Invalid || e.Code != "too-many-events" {
		t.Errorf("refused with %v", err)
	}
}

// TestCallsAreReplayedByName: in the order given, without those that are not there.
func TestCallsAreReplayedByName(t *testing.T) {
	s := open(t)
	s.fill(t, "webhook.some", 5)
	calls, _, err := s.Journal().Calls(t.Context(), sluice.TraceQuery{Limit: 10})
	if err != nil || len(calls) != 5 {
		t.Fatalf("found %d calls: %v", len(calls), err)
	}
	var sent []string
	s.accepted = func(e *sluice.Event) { sent = append(sent, e.ReplayOf) }
	names := []string{calls[3].TraceID, "abcdef:mwigq80keaqdmqjb", calls[0].TraceID}
	if _, err := s.run(t.Context(), command.Args{{Name: "traceId", Value: strings.Join(names, ",")}}); err != nil {
		t.Fatal(err)
	}
	if want := []string{names[0], names[2]}; !slices.Equal(sent, want) {
		t.Errorf("sent %q, want %q", sent, want)
	}
	_, err = s.run(t.Context(), command.Args{{Name: "traceId", Value: names[1]}})
	if e := sluice.AsError(err); e.Kind != sluice.NotFound || e.Code != "event-unknown" {
		t.Errorf("one that is not there: %v", err)
	}
	_, err = s.run(t.Context(), command.Args{{Name: "traceId", Value: strings.Repeat(names[0]+",", 1000) + names[0]}})
	if e := sluice.AsError(err); e.Kind != sluice.Invalid || e.Parameter != "traceId" {
		t.Errorf("too many: %v", err)
	}
}

// TestAReplayEndsWithItsRequest: and says how far it has come.
func TestAReplayEndsWithItsRequest(t *testing.T) {
	s := open(t)
	s.fill(t, "webhook.some", 10)
	ctx, cancel := context.WithCancel(t.Context())
	replayed := 0
	s.accepted = func(*sluice.Event) {
		if replayed++; replayed == 3 {
			cancel()
		}
	}
	_, err := s.replay(ctx, "webhook.some", 1000)
	if e := sluice.AsError(err); e.Code != "replay-incomplete" || !strings.Contains(e.Message, "3 of 10") {
		t.Errorf("ended with %v after %d", err, replayed)
	}
}
