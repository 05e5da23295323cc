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
	"sluice/jetstream/journal"
	"sluice/jetstream/natstest"
	"sluice/stretch"
)

// A store is a real engine whose calls can be counted.
type store struct {
	*jetstream.Engine
	accepted func(*sluice.Event) // is told of each event before it is stored
}

func open(t *testing.T) *store {
	t.Helper()
	e, err := jetstream.Open(t.Context(), jetstream.Options{
		Dir: t.TempDir(), Box: natstest.Box, EventMaxAge: time.Hour, ResultTTL: time.Hour, EventMaxBytes: 256 << 20,
		Log: slog.New(slog.DiscardHandler),
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
	return s.Events.Accept(ctx, e, wait)
}

// fill stores events of one key.
func (s *store) fill(t *testing.T, key string, n int) {
	t.Helper()
	var all sync.WaitGroup
	for worker := range 64 {
		all.Go(func() {
			for i := worker; i < n; i += 64 {
				now := time.Now()
				_, err := s.Events.Accept(t.Context(), &sluice.Event{
					EventKey: key, TraceID: sluice.NewTraceID("abcdef", now), ReceivedAt: now,
					Payload:     fmt.Append(nil, i),
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
	set := command.NewSet(func(context.Context, sluice.AuditEntry) {},
		event.Commands(event.Options{
			Events: s, Stored: s.Stored, Journal: s.Journal, Waiting: s.Queue, Namespace: "default",
		}))
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

// TestReplaysOfAllTimes: any span of time is searched to its end, and no further.
func TestReplaysOfAllTimes(t *testing.T) {
	s := open(t)
	s.fill(t, "webhook.some", 3)
	ctx, cancel := context.WithTimeout(t.Context(), stretch.Of(20*time.Second))
	defer cancel()
	done, err := s.run(ctx, command.Args{
		{Name: "eventKey", Value: "webhook.some"}, {Name: "dryRun", Value: true},
		{Name: "from", Value: "0001-01-02T00:00:00Z"}, {Name: "to", Value: "9999-12-31T23:59:59Z"},
	})
	if found, _ := done.(sluice.Replays); err != nil || found.Selected != 3 {
		t.Errorf("it finds %+v, %v", done, err)
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
	calls, _, err := s.Journal.Calls(t.Context(), sluice.TraceQuery{Limit: 10})
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

// TestReplaysPageByPage: a dry run, the pages of a replay and a replay of all choose the
// same calls, each once and the oldest first; what became no event is not among them.
func TestReplaysPageByPage(t *testing.T) {
	s := open(t)
	s.fill(t, "webhook.some", 25)
	now := time.Now()
	for _, status := range []sluice.Status{sluice.StatusRejected, sluice.StatusHandshake} {
		s.Journal.Hear(journal.Answered{Call: sluice.Call{TraceID: sluice.NewTraceID("abcdef", now),
			EventKey: "webhook.some", Time: now, Status: status, StatusCode: 200}})
	}
	span := command.Args{
		{Name: "from", Value: now.Add(-time.Hour).Format(time.RFC3339)},
		{Name: "to", Value: now.Format(time.RFC3339Nano)}, {Name: "rate", Value: 1000},
	}
	pages := func(more ...command.Arg) (chosen []string) {
		t.Helper()
		after := ""
		for range 10 {
			out, err := s.run(t.Context(),
				slices.Concat(span, more, command.Args{{Name: "limit", Value: 10}, {Name: "after", Value: after}}))
			if err != nil {
				t.Fatal(err)
			}
			done := out.(sluice.Replays)
			if done.Replayed+done.Selected != len(done.Items) || len(done.Items) > 10 {
				t.Fatalf("a page has %d items, with %d replayed and %d selected", len(done.Items), done.Replayed,
					done.Selected)
			}
			for _, item := range done.Items {
				chosen = append(chosen, item.TraceID)
			}
			if after = done.Next; after == "" {
				return chosen
			}
		}
		t.Fatal("there is no end")
		return nil
	}
	var sent []string
	s.accepted = func(e *sluice.Event) { sent = append(sent, e.ReplayOf) }
	dry := pages(command.Arg{Name: "dryRun", Value: true})
	if len(dry) != 25 || len(sent) != 0 {
		t.Fatalf("a dry run chooses %d calls, and sends %d", len(dry), len(sent))
	}
	if replayed := pages(); !slices.Equal(replayed, dry) || !slices.Equal(sent, dry) {
		t.Errorf("replayed are %q, sent %q, want %q", replayed, sent, dry)
	}
	sent = nil
	if _, err := s.run(t.Context(), span); err != nil || !slices.Equal(sent, dry) {
		t.Errorf("all at once: %q, want %q (%v)", sent, dry, err)
	}
	out, err := s.run(t.Context(), append(slices.Clone(span), command.Arg{Name: "dryRun", Value: true}))
	if done, _ := out.(sluice.Replays); err != nil || done.Selected != 25 || done.Replayed != 0 {
		t.Errorf("all at once, a dry run: %+v, %v", out, err)
	}
	if _, err := s.run(t.Context(),
		append(slices.Clone(span), command.Arg{Name: "after", Value: "x"})); sluice.AsError(err).Parameter != "after" {
		t.Errorf("what is no cursor: %v", err)
	}
}

// TestReplaysAreChecked: they need calls or a key with times, and something to replay; what is a
// replay itself is not replayed with the rest.
func TestReplaysAreChecked(t *testing.T) {
	s := open(t)
	day := func(key, from, to string) command.Args {
		return command.Args{{Name: "eventKey", Value: key}, {Name: "from", Value: from}, {Name: "to", Value: to}}
	}
	for _, test := range []struct {
		args command.Args
		code string
	}{
		{nil, "parameter-invalid"},
		{command.Args{{Name: "traceId", Value: "abcdef"}}, "parameter-invalid"},
		{command.Args{
			{Name: "traceId", Value: "abcdef:0123456789"}, {Name: "eventKey", Value: "webhook.x"},
		}, "parameter-invalid"},
		{command.Args{{Name: "eventKey", Value: "webhook.x"}}, "parameter-invalid"},
		{command.Args{{Name: "traceId", Value: "abcdef:0123456789"}}, "event-unknown"},
		{day("webhook.x", "2020-01-01T00:00:00Z", "2020-01-02T00:00:00Z"), "event-unknown"},
	} {
		if _, err := s.run(t.Context(), test.args); sluice.AsError(err).Code != test.code {
			t.Errorf("%v: %v, want %s", test.args, err, test.code)
		}
	}
	s.fill(t, "webhook.x", 1)
	calls, _, err := s.Journal.Calls(t.Context(), sluice.TraceQuery{Limit: 10})
	if err != nil || len(calls) != 1 {
		t.Fatalf("found %d calls: %v", len(calls), err)
	}
	for _, args := range []command.Args{
		{{Name: "traceId", Value: calls[0].TraceID}},
		day("webhook.x", "2020-01-01T00:00:00Z", time.Now().Add(time.Minute).Format(time.RFC3339)),
	} {
		out, err := s.run(t.Context(), args)
		if done, _ := out.(sluice.Replays); err != nil || done.Replayed != 1 {
			t.Errorf("%v: %+v, %v", args, out, err)
		}
	}
	if calls, _, err = s.Journal.Calls(t.Context(), sluice.TraceQuery{Limit: 10}); err != nil || len(calls) != 3 ||
		calls[0].ReplayOf != calls[2].TraceID {
		t.Errorf("found %+v, %v", calls, err)
	}
}
