package deadletter_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	natsjetstream "github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream"
	"sluice/jetstream/deadletter"
	"sluice/jetstream/natstest"
	"sluice/jetstream/stream"
)

func TestMain(m *testing.M) { natstest.Main(m) }

func openStore(t *testing.T, s natstest.Setup) *deadletter.Store {
	t.Helper()
	return openEngine(t, s, 0).DeadLetters
}

func openEngine(t *testing.T, s natstest.Setup, letterBytes int64) *jetstream.Engine {
	t.Helper()
	e, err := jetstream.Open(t.Context(), jetstream.Options{
		Dir: s.Dir, URL: s.URL, Replicas: s.Replicas, Box: natstest.Box, EventMaxAge: time.Hour, ResultTTL: time.Hour, EventMaxBytes: 256 << 20,
		DeadLetterMaxBytes: letterBytes,
		Log:                slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError + 1})),
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
	return e
}

// add stores the letter of a failed run.
func add(t *testing.T, s *deadletter.Store, pipeline, code string, number int) {
	t.Helper()
	d := sluice.Delivery{TraceID: fmt.Sprint("trace-", number), CorrelationID: fmt.Sprint("id-", number), Message: map[string]any{"eventKey": "webhook.a"}}
	o := sluice.Outcome{Pipeline: pipeline, Attempts: 2, Finished: time.Now().UTC(), Error: &sluice.Problem{Code: code}}
	if _, err := natstest.Patiently(t.Context(), func() (any, error) { return nil, s.Add(t.Context(), d, []byte(`{"n":1}`), o) }); err != nil {
		t.Fatal(err)
	}
}

// letters returns the correlation ids of a page, and the cursor behind it.
func letters(t *testing.T, s *deadletter.Store, q sluice.DeadLetterQuery) (found []sluice.DeadLetter, ids []string, next string) {
	t.Helper()
	found, next, err := s.Letters(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range found {
		ids = append(ids, l.CorrelationID)
	}
	return found, ids, next
}

// TestLetters: what is stored is read page by page in both orders, chosen by pipeline
// and error, counted, and gone when it is dropped; on every set-up.
func TestLetters(t *testing.T) {
	natstest.OnEverySetup(t, func(t *testing.T, setup natstest.Setup) {
		s := openStore(t, setup)
		pipeline := natstest.UniqueKey("pages")
		for i := range 5 {
			add(t, s, pipeline, "code-"+fmt.Sprint(i%2), i)
		}
		_, ids, next := letters(t, s, sluice.DeadLetterQuery{Pipeline: pipeline, Limit: 3})
		if want := []string{"id-4", "id-3", "id-2"}; !slices.Equal(ids, want) || next == "" {
			t.Errorf("the first page is %v, then %q", ids, next)
		}
		if _, ids, _ = letters(t, s, sluice.DeadLetterQuery{Pipeline: pipeline, Limit: 3, Before: next}); !slices.Equal(ids, []string{"id-1", "id-0"}) {
			t.Errorf("the second page is %v", ids)
		}
		found, ids, _ := letters(t, s, sluice.DeadLetterQuery{Pipeline: pipeline, Code: "code-1", Oldest: true, Limit: 9})
		if !slices.Equal(ids, []string{"id-1", "id-3"}) {
			t.Fatalf("of that code, the oldest first, there are %v", ids)
		}
		if l := found[0]; l.EventKey != "webhook.a" || l.Attempts != 2 || string(l.Event) != `{"n":1}` || l.TraceID != "trace-1" {
			t.Errorf("the letter is %+v", l)
		}
		natstest.Eventually(t, "the groups, which a replica may know a moment later", func() bool {
			groups, err := s.Groups(t.Context(), sluice.DeadLetterQuery{Pipeline: pipeline})
			return err == nil && len(groups) == 2 && groups[0].Code == "code-0" && groups[0].Count == 3 && groups[1].Count == 2
		})
		if err := s.Drop(t.Context(), found[0].Letter); err != nil {
			t.Fatal(err)
		}
		if err := s.Drop(t.Context(), found[0].Letter); sluice.AsError(err).Kind != sluice.NotFound {
			t.Errorf("dropped again it is %v", err)
		}
		if gone, _, _ := letters(t, s, sluice.DeadLetterQuery{Letter: found[0].Letter}); gone != nil {
			t.Errorf("a dropped letter is %+v", gone)
		}
		counts, err := s.ByPipeline(t.Context())
		if err != nil || counts[pipeline] != 4 {
			t.Errorf("there are %d left, %v", counts[pipeline], err)
		}
		for _, name := range []string{"", "0", "-1", "x", "99999999"} {
			if err := s.Drop(t.Context(), name); sluice.AsError(err).Kind != sluice.NotFound {
				t.Errorf("dropping %q is %v", name, err)
			}
		}
	})
}

// TestUnreadableLetters: what another program has published is left out, and those
// around it are found.
func TestUnreadableLetters(t *testing.T) {
	t.Parallel()
	setup := natstest.Setup{URL: natstest.Start(natstest.Options()).ClientURL(), Replicas: 1}
	s := openStore(t, setup)
	conn, err := nats.Connect(setup.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := natsjetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	add(t, s, "p", "c", 1)
	for _, text := range []string{"no JSON", "", `{"pipeline":"p"}`, `{"time":7}`} {
		if _, err := js.Publish(t.Context(), stream.DeadLetterPrefix+"p", []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	add(t, s, "p", "c", 2)
	if _, ids, _ := letters(t, s, sluice.DeadLetterQuery{Limit: 9}); !slices.Equal(ids, []string{"id-2", "id-1"}) {
		t.Errorf("there are %v", ids)
	}
	if groups, err := s.Groups(t.Context(), sluice.DeadLetterQuery{}); err != nil || len(groups) != 1 || groups[0].Count != 2 {
		t.Errorf("the groups are %+v, %v", groups, err)
	}
	if err := s.Drop(t.Context(), "2"); sluice.AsError(err).Kind != sluice.NotFound {
		t.Errorf("dropping what is no letter is %v", err)
	}
}

// TestNobodyTakesTheLettersOfOthers: where there are too many, the oldest of whoever has most go,
// and it is told: in the warnings, in the figures and in the log.
func TestNobodyTakesTheLettersOfOthers(t *testing.T) {
	t.Parallel()
	for name, setup := range map[string]natstest.Setup{
		"embedded": {Dir: t.TempDir()},
		"external": {URL: natstest.Start(natstest.Options()).ClientURL(), Replicas: 1},
	} {
		t.Run(name, func(t *testing.T) {
			const bound = 100_000
			e := openEngine(t, setup, bound)
			s := e.DeadLetters
			for i := range 3 {
				add(t, s, "partner.quiet", "failed", i)
			}
			for i := 0; s.Shares.Dropped() == 0; i++ {
				add(t, s, "partner.loud", "failed", i)
			}
			counts, err := s.ByPipeline(t.Context())
			if err != nil || counts["partner.quiet"] != 3 || counts["partner.loud"] == 0 {
				t.Fatalf("there are %v, %v", counts, err)
			}
			if _, ids, _ := letters(t, s, sluice.DeadLetterQuery{Pipeline: "partner.loud", Oldest: true, Limit: 1}); ids[0] == "id-0" {
				t.Error("the oldest letter of the loud one is still there")
			}
			stats, err := e.Stats(t.Context())
			if err != nil || stats.CutLetters != s.Shares.Dropped() || len(stats.Warnings) == 0 ||
				!slices.ContainsFunc(stats.Warnings, func(w string) bool {
					return strings.HasPrefix(w, "dead letters of the pipeline partner.loud go after ")
				}) {
				t.Errorf("the figure is %d, %v; the warnings are %q", stats.CutLetters, err, stats.Warnings)
			}
		})
	}
}
