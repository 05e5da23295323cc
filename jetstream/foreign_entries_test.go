package jetstream

import (
	"bytes"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"sluice"
	"sluice/jetstream/natstest"
	"sluice/problem"
)

// unreadable is what another program may publish where entries are stored.
var unreadable = []string{"{", "x", "", "{}", "null", `{"time":"yesterday"}`}

// leftOut counts the lines of a log that say that a message is left out.
type leftOut struct{ count atomic.Int64 }

func (l *leftOut) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("can't be read; it is left out")) {
		l.count.Add(1)
	}
	return len(line), nil
}

// openForeign opens an engine that other programs may publish to, and returns a
// function that does so.
func openForeign(t *testing.T) (e *Engine, log *leftOut, publish func(subject string), stop func()) {
	t.Helper()
	s := natstest.Start(natstest.Options())
	log = new(leftOut)
	e = openEngine(t, Options{URL: s.ClientURL(), Replicas: 1, Log: slog.New(slog.NewTextHandler(log, nil))})
	publish = func(subject string) {
		t.Helper()
		for _, text := range unreadable {
			_, err := e.host.JS.Publish(t.Context(), subject, []byte(text))
			check(t, err)
		}
	}
	return e, log, publish, s.Shutdown
}

// TestForeignDeadLetters: a message of another program among the dead letters is left out and
// logged once. The letters before and behind it are read, counted and dropped.
func TestForeignDeadLetters(t *testing.T) {
	t.Parallel()
	e, log, publish, stop := openForeign(t)
	letters, shown := e.DeadLetters, problem.Of(sluice.Code("no-good").Errorf("No good.").OfKind(sluice.Invalid))
	began := time.Now().UTC()
	add := func(id string, after time.Duration) sluice.Outcome {
		t.Helper()
		o := sluice.Outcome{Pipeline: "x", Status: sluice.StatusError, Error: shown, Attempts: 1, Finished: began.Add(after)}
		check(t, e.DeadLetters.Add(t.Context(), sluice.Delivery{CorrelationID: id}, []byte(`{"payload":1}`), o))
		return o
	}
	publish("svc.deadletter.x") // the first letter is behind six of them
	first := add("one", time.Second)
	publish("svc.deadletter.x")
	add("two", 2*time.Second)
	publish("svc.deadletter.x")
	published := int64(3 * len(unreadable))

	for name, test := range map[string]struct {
		query sluice.DeadLetterQuery
		want  []string
	}{
		"all":              {sluice.DeadLetterQuery{Limit: 10}, []string{"two", "one"}},
		"the newest":       {sluice.DeadLetterQuery{Limit: 1}, []string{"two"}},
		"the oldest":       {sluice.DeadLetterQuery{Limit: 1, Oldest: true}, []string{"one"}},
		"from a time on":   {sluice.DeadLetterQuery{Limit: 10, From: began}, []string{"two", "one"}},
		"up to a time":     {sluice.DeadLetterQuery{Limit: 10, To: first.Finished}, []string{"one"}},
		"one by its name":  {sluice.DeadLetterQuery{Letter: fmt.Sprint(len(unreadable) + 1)}, []string{"one"}},
		"one that is none": {sluice.DeadLetterQuery{Letter: "1"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			found, _, err := letters.Letters(t.Context(), test.query)
			var got []string
			for _, letter := range found {
				got = append(got, letter.CorrelationID)
			}
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("found are %v (%v), want %v", got, err, test.want)
			}
		})
	}
	groups, err := letters.Groups(t.Context(), sluice.DeadLetterQuery{})
	if err != nil || len(groups) != 1 || groups[0].Count != 2 {
		t.Errorf("the groups are %+v (%v)", groups, err)
	}
	check(t, e.DeadLetters.AddMissing(t.Context(), sluice.Delivery{CorrelationID: "one"}, nil, first)) // it is not missing
	if found, _, err := letters.Letters(t.Context(), sluice.DeadLetterQuery{Limit: 10}); err != nil || len(found) != 2 {
		t.Errorf("there are %d letters (%v), and one was not missing", len(found), err)
	}
	check(t, letters.Drop(t.Context(), fmt.Sprint(len(unreadable)+1)))
	if err := letters.Drop(t.Context(), "1"); sluice.AsError(err).Kind != sluice.NotFound {
		t.Errorf("dropped what is no letter: %v", err)
	}
	if got := log.count.Load(); got != published {
		t.Errorf("%d messages are logged to be left out, want each of %d once", got, published)
	}
	stop()
	if found, _, err := letters.Letters(t.Context(), sluice.DeadLetterQuery{Limit: 10}); sluice.AsError(err).Kind != sluice.Unavailable {
		t.Errorf("without an engine there are %d letters (%v)", len(found), err)
	}
}

// TestForeignAuditEntries: a message of another program in the audit log is left out and
// logged once.
func TestForeignAuditEntries(t *testing.T) {
	t.Parallel()
	e, log, publish, stop := openForeign(t)
	began := time.Now().UTC()
	record := func(target string) {
		t.Helper()
		check(t, e.Audit.Record(t.Context(), sluice.AuditEntry{Time: time.Now().UTC(), Username: "admin", Target: target, Outcome: sluice.AuditAllowed}))
	}
	publish("svc.audit")
	record("one")
	publish("svc.audit.access")
	record("two")
	publish("svc.audit")

	for name, test := range map[string]struct {
		query sluice.AuditQuery
		want  []string
	}{
		"all":            {sluice.AuditQuery{Limit: 10}, []string{"two", "one"}},
		"the newest":     {sluice.AuditQuery{Limit: 1}, []string{"two"}},
		"from a time on": {sluice.AuditQuery{Limit: 10, From: began}, []string{"two", "one"}},
	} {
		t.Run(name, func(t *testing.T) {
			found, _, err := e.Audit.Entries(t.Context(), test.query)
			var got []string
			for _, entry := range found {
				got = append(got, entry.Target)
			}
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("found are %v (%v), want %v", got, err, test.want)
			}
		})
	}
	if got := log.count.Load(); got != int64(3*len(unreadable)) {
		t.Errorf("%d messages are logged to be left out, want each of %d once", got, 3*len(unreadable))
	}
	stop()
	if found, _, err := e.Audit.Entries(t.Context(), sluice.AuditQuery{Limit: 10}); sluice.AsError(err).Kind != sluice.Unavailable {
		t.Errorf("without an engine there are %d entries (%v)", len(found), err)
	}
}
