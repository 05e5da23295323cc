package quarantine_test

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"sluice"
	"sluice/jetstream"
	"sluice/jetstream/natstest"
	"sluice/jetstream/quarantine"
)

func TestMain(m *testing.M) { natstest.Main(m) }

// openStore opens the quarantine of a node.
func openStore(t *testing.T, s natstest.Setup) *quarantine.Store {
	t.Helper()
	e, err := jetstream.Open(t.Context(), jetstream.Options{
		Dir: s.Dir, URL: s.URL, Replicas: s.Replicas, Box: natstest.Box, EventMaxAge: time.Hour, ResultTTL: time.Hour, EventMaxBytes: 256 << 20,
		Log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	select {
	case <-e.SetUp():
	case <-time.After(time.Minute):
		t.Fatalf("the engine was not set up in time: %v", e.Ready())
	}
	return e.Quarantine
}

// list returns the ids of a page, and the cursor behind it.
func list(t *testing.T, s *quarantine.Store, q sluice.QuarantineQuery) (ids []string, next string) {
	t.Helper()
	calls, next, err := s.List(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range calls {
		ids = append(ids, c.ID)
	}
	return ids, next
}

// TestACursorOutlivesItsCall: a list goes on where it was, on any node, though the call
// that a page ended with was dropped meanwhile. Calls of one moment have an order, too.
func TestACursorOutlivesItsCall(t *testing.T) {
	natstest.OnEverySetup(t, func(t *testing.T, setup natstest.Setup) {
		here := openStore(t, setup)
		there := here
		if setup.Shared {
			there = openStore(t, setup)
		}
		key := natstest.UniqueKey("webhook.pages")
		var all []string
		now := time.Now()
		for i := range 8 {
			at := now.Add(time.Duration(i/2) * time.Nanosecond) // two of each moment
			c := &sluice.QuarantinedCall{ID: sluice.NewTraceID("abcdef", at), EventKey: key, Code: "signature-invalid", Time: at, Token: key}
			if _, err := natstest.Patiently(t.Context(), func() (bool, error) { return true, here.Put(t.Context(), c) }); err != nil {
				t.Fatal(err)
			}
			all = append(all, c.ID)
			slices.Sort(all[i/2*2:])
		}
		for _, oldest := range []bool{false, true} {
			q := sluice.QuarantineQuery{EventKey: key, Oldest: oldest}
			want := slices.Clone(all)
			if !oldest {
				slices.Reverse(want)
			}
			natstest.Eventually(t, "the other node knows of them", func() bool {
				ids, next := list(t, there, q)
				return slices.Equal(ids, want) && next == ""
			})
			q.Limit = 3
			first, next := list(t, here, q)
			if !slices.Equal(first, want[:3]) || next == "" {
				t.Fatalf("the first page has %q and ends with %q; want %q", first, next, want[:3])
			}
			if _, err := natstest.Patiently(t.Context(), func() (bool, error) { return here.Drop(t.Context(), first[2]) }); err != nil {
				t.Fatal(err)
			}
			q.After, q.Limit = next, len(want)-3
			for name, node := range map[string]*quarantine.Store{"the same": here, "another": there} {
				if rest, end := list(t, node, q); !slices.Equal(rest, want[3:]) || end != "" {
					t.Errorf("on %s node there follow %q and %q, want %q", name, rest, end, want[3:])
				}
			}
			all = slices.DeleteFunc(all, func(id string) bool { return id == first[2] })
		}
	})
}

// TestWhatIsNoCursor is refused, instead of being taken for none.
func TestWhatIsNoCursor(t *testing.T) {
	s := openStore(t, natstest.Setup{Dir: t.TempDir()})
	for _, cursor := range []string{"x", "1", "1-", "-", "nonsense:abc", "abcdef:mwigq80keaqdmqjb", "x-abcdef:mwigq80keaqdmqjb", "1-a b", fmt.Sprint(1<<62, "0-a:b")} {
		_, _, err := s.List(t.Context(), sluice.QuarantineQuery{Limit: 1, After: cursor})
		if e := sluice.AsError(err); err == nil || e.Kind != sluice.Invalid || e.Parameter != "after" {
			t.Errorf("%q: %v", cursor, err)
		}
	}
}
