package journal_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"sluice"
	"sluice/jetstream"
	"sluice/jetstream/natstest"
)

// TestEndsThatAreBeingToldAreNotToldYet: whoever needs all of them told waits for the one who tells them.
func TestEndsThatAreBeingToldAreNotToldYet(t *testing.T) {
	t.Parallel()
	telling, goOn := make(chan struct{}), make(chan struct{})
	release := sync.OnceFunc(func() { close(goOn) })
	e := openEngine(t, jetstream.Options{Dir: t.TempDir(), ObserveEnd: func(end sluice.CallEnd) {
		if end.Status == sluice.StatusRecovered {
			close(telling)
			<-goOn
		}
	}})
	t.Cleanup(release)
	key := natstest.UniqueKey("told")
	p := bind(t, e, key, sluice.EventPrefix+key)
	consume(t, e, p, failsAtFirst(p))
	call := called(t, e, owner(), key, time.Now())
	natstest.Eventually(t, "the failure", func() bool {
		o, err := e.Results.Result(t.Context(), call.CorrelationID, 0)
		return err == nil && o.Status == sluice.StatusError
	})
	replay(t, e, call.CorrelationID, p)
	<-telling
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if e.Journal.TellEnds(short) {
		t.Error("all is said to be told")
	}
	release()
	if !e.Journal.TellEnds(t.Context()) {
		t.Error("not all is told")
	}
}

// TestEndsAreToldOnce: of a call with two pipelines, one of which fails and is replayed, it is told once that
// it failed and once that it recovered, whichever outcome is stored first.
func TestEndsAreToldOnce(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	told := map[string][]sluice.Status{} // by trace id
	e := openEngine(t, jetstream.Options{Dir: t.TempDir(), ObserveEnd: func(end sluice.CallEnd) {
		mu.Lock()
		defer mu.Unlock()
		told[end.TraceID] = append(told[end.TraceID], end.Status)
	}})
	for _, replayed := range []string{"before", "after"} {
		for _, other := range []sluice.Status{sluice.StatusOK, sluice.StatusError} {
			key := natstest.UniqueKey("ends")
			fails, waits := bind(t, e, key+".fails", sluice.EventPrefix+key), bind(t, e, key+".waits", sluice.EventPrefix+key)
			released := make(chan struct{})
			release := sync.OnceFunc(func() { close(released) })
			consume(t, e, fails, failsAtFirst(fails))
			consume(t, e, waits, func(sluice.Delivery) (sluice.Outcome, error) {
				<-released
				o := ok(waits.Name, "2")
				o.Status = other
				return o, nil
			})
			t.Cleanup(release)
			call := called(t, e, owner(), key, time.Now())
			ended := func(id string, status sluice.Status) {
				t.Helper()
				natstest.Eventually(t, "the outcome", func() bool {
					o, err := e.Results.Result(t.Context(), id, 0)
					return err == nil && o.Status == status
				})
			}
			if replayed == "before" {
				ended(replay(t, e, call.CorrelationID, fails), sluice.StatusOK)
			}
			release()
			ended(call.CorrelationID, sluice.StatusError)
			if replayed == "after" {
				ended(replay(t, e, call.CorrelationID, fails), sluice.StatusOK)
			}
			e.Journal.TellEnds(t.Context())
			want := []sluice.Status{sluice.StatusError, sluice.StatusRecovered}[:1]
			if other == sluice.StatusOK {
				want = want[:2]
			}
			natstest.Eventually(t, "the ends", func() bool {
				mu.Lock()
				defer mu.Unlock()
				return len(told[call.TraceID]) >= len(want)
			})
			mu.Lock()
			if got := told[call.TraceID]; fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("replayed %s the other is %s: %v is told, want %v", replayed, other, got, want)
			}
			mu.Unlock()
		}
	}
}

// TestWhatCannotBeToldIsSaid: a stop that has no time left for it knows that figures lack something.
func TestWhatCannotBeToldIsSaid(t *testing.T) {
	t.Parallel()
	e := openEngine(t, jetstream.Options{Dir: t.TempDir()})
	key := natstest.UniqueKey("late")
	p := bind(t, e, key, sluice.EventPrefix+key)
	consume(t, e, p, func(sluice.Delivery) (sluice.Outcome, error) { return ok(p.Name, "1"), nil })
	call := called(t, e, owner(), key, time.Now())
	natstest.Eventually(t, "the outcome", func() bool {
		o, err := e.Results.Result(t.Context(), call.CorrelationID, 0)
		return err == nil && o.Status == sluice.StatusOK
	})
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if e.Journal.TellEnds(over) {
		t.Error("it says that everything was told, in no time")
	}
	if !e.Journal.TellEnds(t.Context()) {
		t.Error("it says that not everything was told")
	}
}

// TestEndsAreToldBehindWhatIsWritten: somebody asks for figures, and goes away while what they depend on is
// written. It is told when that was written.
func TestEndsAreToldBehindWhatIsWritten(t *testing.T) {
	t.Parallel()
	told := make(chan sluice.Status, 10)
	e := openEngine(t, jetstream.Options{Dir: t.TempDir(), ObserveEnd: func(end sluice.CallEnd) { told <- end.Status }})
	key := natstest.UniqueKey("cut")
	p := bind(t, e, key, sluice.EventPrefix+key)
	consume(t, e, p, failsAtFirst(p))
	call := called(t, e, owner(), key, time.Now())
	if got := <-told; got != sluice.StatusError {
		t.Fatalf("%s is told", got)
	}
	id := replay(t, e, call.CorrelationID, p)
	natstest.Eventually(t, "the outcome", func() bool {
		e.Journal.CutOff(t.Context()) // perhaps there is nothing to write yet
		o, err := e.Results.Result(t.Context(), id, 0)
		return err == nil && o.Status == sluice.StatusOK
	})
	e.Journal.CutOff(t.Context()) // or no more
	e.Journal.TellEnds(t.Context())
	select {
	case got := <-told:
		if got != sluice.StatusRecovered {
			t.Errorf("%s is told", got)
		}
	case <-time.After(patience):
		t.Error("nothing is told of the replay")
	}
}
