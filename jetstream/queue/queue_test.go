package queue

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"sluice"
)

// TestForHowLongOutcomesAreKept: the log promises no more than the bounds allow.
func TestForHowLongOutcomesAreKept(t *testing.T) {
	for _, test := range []struct {
		keep    Retention
		promise string
	}{
		{Retention{Age: time.Hour}, "kept for 1h0m0s."},
		{Retention{Age: time.Hour, MaxCount: 1_000_000}, "up to 277 a second (--result-max-count)."},
		{Retention{Age: time.Hour, MaxBytes: 3600 << 10}, "up to 1024 bytes a second (--result-max-bytes)."},
		{Retention{Age: 100 * time.Millisecond, MaxCount: 10}, "kept for 100ms."},
	} {
		o := &Outcomes{keep: test.keep}
		if got := o.promise(); !strings.Contains(got, test.promise) {
			t.Errorf("%+v promises %q", test.keep, got)
		}
	}
}

// TestOutcomesWaitForMemory: large outcomes are stored one after the other where
// there is no memory for more, and keep nobody else waiting.
func TestOutcomesWaitForMemory(t *testing.T) {
	m := newMemory(8 << 20)
	outcome := func(size int) sluice.Outcome { return sluice.Outcome{Value: make(json.RawMessage, size)} }
	release := m.settling(outcome(1 << 20))
	m.settling(outcome(1 << 10))() // a small one
	m.settling(outcome(0))()       // nothing came of the run
	waiting, entered := make(chan struct{}), make(chan struct{})
	go func() {
		close(waiting)
		defer close(entered)
		m.settling(outcome(4 << 20))() // more than there is, alone
	}()
	<-waiting
	all := m.outcomes.Hold()
	if all.Try(4<<20) == nil {
		t.Fatal("an outcome that is being stored takes no memory")
	}
	release()
	<-entered
	if all.Try(4<<20) != nil {
		t.Error("not all memory came back")
	}
}

func TestSubjectsOfPatterns(t *testing.T) {
	for pattern, want := range map[string]string{
		"svc.event.a.b": "svc.event.a.b",
		"svc.event.a.*": "svc.event.a.*",
		"svc.event.a.#": "svc.event.a svc.event.a.>",
		"svc.event.#":   "svc.event.>",
		"a.b":           "svc.message.a.b",
		"a.#":           "svc.message.a svc.message.a.>",
		"#":             "svc.message.> svc.event.>",
		"*":             "svc.message.*",
		"*.*":           "svc.message.*.*",
		"*.event.x":     "svc.message.*.event.x svc.event.x",
		"svc.*.x.#":     "svc.message.svc.*.x svc.message.svc.*.x.> svc.event.x svc.event.x.>",
		"svc.#":         "svc.message.svc svc.message.svc.> svc.event.>",
		"*.a.x":         "svc.message.*.a.x",
	} {
		if got := strings.Join(subjectsOf(pattern), " "); got != want {
			t.Errorf("%s is %q, want %q", pattern, got, want)
		}
	}
}

// TestAnEventFromTheWaitingRoomIsInProgressUntilItsEnd: meanwhile it is not taken again here, whatever the index
// says. Its end is not that of another delivery.
func TestAnEventFromTheWaitingRoomIsInProgressUntilItsEnd(t *testing.T) {
	q := &Queue{work: newInProgress()}
	c := &consumption{queue: q, binding: "binding"}
	key, d := c.keyOf(7), new(delivery)
	if q.work.has(key) {
		t.Error("it is in progress before it was taken")
	}
	q.work.begin(t.Context(), key, d, nil)
	if c.leave(new(delivery)); !q.work.has(key) {
		t.Error("the end of another delivery is its end")
	}
	if c.leave(d); q.work.has(key) {
		t.Error("it is in progress after its end")
	}
}

// TestAnEventThatComesAgainAtOnce: the engine may deliver an event again before the delivery
// that gave it back has ended. It is not left to that one, which does nothing more.
func TestAnEventThatComesAgainAtOnce(t *testing.T) {
	q := &Queue{work: newInProgress(), memory: newMemory(1 << 20)}
	c := &consumption{queue: q, binding: "binding"}
	key, next := c.keyOf(7), &live{consumption: c}
	first := &live{consumption: c, msg: &givenBack{then: func() {
		if !q.work.begin(t.Context(), key, new(delivery), next) {
			t.Error("the next delivery is left to the first one")
		}
	}}}
	d := &delivery{event: event{sequence: key.sequence}}
	q.work.begin(t.Context(), key, d, first)
	first.giveBack(d, 0)
	first.end(d)
	if q.work.deliveries[key] != next {
		t.Error("the end of the first delivery ends the next one")
	}
}
