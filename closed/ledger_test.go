package closed_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice"
	"sluice/closed"
	"sluice/command"
	"sluice/jetstream"
	"sluice/jetstream/natstest"
)

func TestMain(m *testing.M) { natstest.Main(m) }

// A house is a ledger on a real engine, with a clock that tests set.
type house struct {
	t      *testing.T
	engine *jetstream.Engine
	now    time.Time
	down   bool // it refuses calls
	hours  []sluice.Minute
	told   []string
}

// open opens a house on a Tuesday at 10:00.
func open(t *testing.T) *house {
	t.Helper()
	e, err := jetstream.Open(t.Context(), jetstream.Options{
		Dir: t.TempDir(), Box: natstest.Box, EventMaxAge: time.Hour, ResultTTL: time.Hour, EventMaxBytes: 256 << 20, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return &house{t: t, engine: e, now: time.Date(2026, 11, 17, 10, 0, 0, 123_456, time.UTC)}
}

// start returns the ledger of a server that has just started.
func (h *house) start(options ...func(*closed.Options)) *closed.Ledger {
	o := closed.Options{
		Records: h.engine.Closed,
		Ready: func() error {
			if h.down {
				return errors.New("the disk is full")
			}
			return nil
		},
		Hours: func(int) []sluice.Minute { return h.hours },
		Retries: func(key string) string {
			return map[string]string{"a.git": "none", "b.pay": "3d", "c.own": "unknown"}[key]
		},
		Tell: func(_ context.Context, message string) { h.told = append(h.told, message) },
		Log:  slog.New(slog.DiscardHandler),
		Now:  func() time.Time { return h.now },
	}
	for _, set := range options {
		set(&o)
	}
	return closed.New(o)
}

func several(o *closed.Options) { o.Several = true }
func queued(o *closed.Options)  { o.Queued = true }

// beat lets some time pass, and the servers give a sign of life.
func (h *house) beat(d time.Duration, servers ...*closed.Ledger) {
	h.t.Helper()
	h.now = h.now.Add(d)
	for _, l := range servers {
		if err := l.Beat(h.t.Context()); err != nil {
			h.t.Fatal(err)
		}
	}
}

func (h *house) last(l *closed.Ledger, why string) {
	h.t.Helper()
	if err := l.Last(h.t.Context(), h.now, why); err != nil {
		h.t.Fatal(err)
	}
}

// wants checks the closings that server.closed shows, newest first: cause, from and to.
func (h *house) wants(want ...string) []sluice.Closing {
	h.t.Helper()
	commands := command.NewSet(nil, closed.Commands(h.start()))
	cmd, _ := commands.Find("server.closed")
	out, err := commands.Call(sluice.WithUser(h.t.Context(), sluice.User{Permissions: []string{"*"}}), cmd, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	var got []string
	found := out.(sluice.List[sluice.Closing]).Items
	for _, c := range found {
		got = append(got, c.Cause+" "+c.From.Format("15:04:05")+" "+c.To.Format("15:04:05"))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		h.t.Errorf("closings (-want +got):\n%s", diff)
	}
	if len(h.told) != len(found) {
		h.t.Errorf("told of %d closings: %v", len(h.told), h.told)
	}
	return found
}

// TestClosings: a stop, a crash and a refusal are told apart.
func TestClosings(t *testing.T) {
	h := open(t)
	s := h.start()
	h.beat(0, s)
	h.beat(4*time.Second, s)
	h.wants()
	h.now = h.now.Add(time.Second)
	h.last(s, sluice.ClosedByStop)
	h.now = h.now.Add(2 * time.Second)
	s = h.start()
	h.beat(0, s)
	h.beat(4*time.Second, s)
	h.now = h.now.Add(3 * time.Second) // a crash
	s = h.start()
	h.beat(time.Second, s)
	h.down = true
	h.beat(4*time.Second, s)
	h.beat(4*time.Second, s)
	h.down = false
	h.beat(4*time.Second, s)
	h.beat(4*time.Second, s)
	h.wants("refused 10:00:15 10:00:27", "crash 10:00:11 10:00:15", "stop 10:00:05 10:00:07")
}

// TestCallersThatWait: a hand-over, and a restart with a socket that is there throughout,
// close nothing, unless they take longer than senders wait.
func TestCallersThatWait(t *testing.T) {
	h := open(t)
	s := h.start()
	h.beat(0, s)
	h.last(s, closed.HandOver)
	s = h.start()
	h.beat(2*time.Second, s)
	h.last(s, sluice.ClosedByStop)
	s = h.start(queued)
	h.beat(9*time.Second, s)
	h.wants()
	h.last(s, sluice.ClosedByStop)
	h.beat(time.Minute, h.start(queued))
	h.wants("stop 10:00:11 10:01:11")
}

// TestSeveralNodes: as long as one of them takes calls, nothing is closed.
func TestSeveralNodes(t *testing.T) {
	h := open(t)
	one, two := h.start(several), h.start(several)
	h.beat(0, one, two)
	h.last(one, sluice.ClosedByStop)
	h.beat(2*time.Second, h.start(several))
	h.beat(4*time.Second, two)
	h.beat(4*time.Second, two)
	h.beat(4*time.Second, h.start(several))
	h.wants()
	h.down = true
	h.beat(time.Minute, one, two)
	h.down = false
	h.beat(0, two, one)
	h.wants("refused 10:00:14 10:01:14")
}

// TestWebhooksThatMissedCalls: those that were called just before, or usually are at that hour of
// the week, with the usual number of calls; senders that don't try again come first.
func TestWebhooksThatMissedCalls(t *testing.T) {
	h := open(t)
	hour := func(back time.Duration, calls map[string]int) {
		m := sluice.Minute{Time: h.now.Add(-back).Truncate(time.Hour), Webhooks: make(map[string]sluice.WebhookFigures)}
		for key, n := range calls {
			m.Webhooks[key] = sluice.WebhookFigures{CallFigures: sluice.CallFigures{Accepted: n, Rejected: 1}}
		}
		h.hours = append(h.hours, m)
	}
	const week = 7 * 24 * time.Hour
	hour(4*week, map[string]int{"a.git": 8, "deleted": 5})
	hour(week, map[string]int{"a.git": 1})
	hour(week-time.Hour, map[string]int{"c.own": 5}) // the hour after
	hour(time.Hour, map[string]int{"b.pay": 3})
	hour(3*time.Hour, map[string]int{"c.own": 3})
	s := h.start()
	h.beat(time.Minute, s)
	h.last(s, sluice.ClosedByStop)
	h.beat(time.Minute, h.start())
	found := h.wants("stop 10:01:00 10:02:00")
	want := []sluice.ClosedWebhook{{EventKey: "a.git", Retries: "none", Usual: 6}, {EventKey: "b.pay", Retries: "3d"}}
	if diff := cmp.Diff(want, found[0].Webhooks); diff != "" {
		t.Errorf("webhooks (-want +got):\n%s", diff)
	}
	if !strings.Contains(h.told[0], "for 1m0s") || !strings.Contains(h.told[0], "don't try again: a.git;") {
		t.Errorf("it is told as %q", h.told[0])
	}
}

// TestACrashIsRememberedUntilItIsCounted: a stop before the figures were counted anew leaves that to the
// next start.
func TestACrashIsRememberedUntilItIsCounted(t *testing.T) {
	h := open(t)
	beat := func(l *closed.Ledger) {
		t.Helper()
		if err := l.Beat(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	stop := func(l *closed.Ledger) {
		t.Helper()
		if err := l.Last(t.Context(), h.now, sluice.ClosedByStop); err != nil {
			t.Fatal(err)
		}
	}
	want := h.now.Truncate(time.Millisecond)
	beat(h.start()) // its last sign
	for range 2 {
		h.now = h.now.Add(time.Minute)
		l := h.start()
		if last, crashed := l.Crashed(t.Context()); !crashed || !last.Equal(want) {
			t.Errorf("after a crash at %s it is %s, %t", want, last, crashed)
		}
		beat(l)
		stop(l)
	}
	l := h.start()
	l.Crashed(t.Context())
	beat(l)
	l.Counted()
	stop(l)
	if last, crashed := h.start().Crashed(t.Context()); crashed {
		t.Errorf("what was counted is to be counted again, since %s", last)
	}
	l = h.start()
	beat(l)
	l.Doubt(want)
	stop(l)
	if last, crashed := h.start().Crashed(t.Context()); !crashed || !last.Equal(want) {
		t.Errorf("after a stop that could not count it is %s, %t", last, crashed)
	}
}
