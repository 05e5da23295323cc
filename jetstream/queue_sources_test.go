package jetstream

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"sluice"
	"sluice/jetstream/natstest"
	"sluice/jetstream/stream"
	"sluice/problem"
)

// fromEverySource runs a test for live events, and for events from the waiting room.
// These are ones on which the pipeline has failed once.
func fromEverySource(t *testing.T, test func(t *testing.T, failed int)) {
	t.Helper()
	for source, failed := range map[string]int{"live": 0, "waited": 1} {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			test(t, failed)
		})
	}
}

// deadLettersOf returns how many dead letters there are.
func deadLettersOf(t *testing.T, e *Engine) uint64 {
	t.Helper()
	letters, err := e.host.JS.Stream(t.Context(), stream.DeadLetters)
	check(t, err)
	return letters.CachedInfo().State.Msgs
}

// eventuallyNothingIsLeft waits until a pipeline is done with all events.
func eventuallyNothingIsLeft(t *testing.T, e *Engine, p *sluice.Pipeline) {
	t.Helper()
	natstest.Eventually(t, "nothing is left to do", func() bool {
		c, err := e.Stored.stream.Consumer(t.Context(), p.Binding.ID)
		return err == nil && c.CachedInfo().NumAckPending == 0 && c.CachedInfo().NumPending == 0 && !waitsFor(t, e, p.Binding)
	})
}

// TestDeliveriesFromEverySource: whatever becomes of a delivery, it is the same for a
// live event and for one that has waited.
func TestDeliveriesFromEverySource(t *testing.T) {
	t.Parallel()
	died := errors.New("died")
	failure := func(p *sluice.Pipeline) sluice.Outcome {
		shown := problem.Of(sluice.Code("no-good").Errorf("No good.").OfKind(sluice.Invalid))
		return sluice.Outcome{Pipeline: p.Name, Status: sluice.StatusError, StatusCode: 400, Error: shown, Attempts: 1, Finished: time.Now().UTC()}
	}
	// stored is a run whose process dies behind its outcome.
	stored := func(t *testing.T, e *Engine, d sluice.Delivery, o sluice.Outcome) error {
		place, _ := e.Stored.ids.Parse(d.CorrelationID)
		if _, err := e.Queue.Outcomes.Put(t.Context(), place.Sequence, d.TraceID, o); err != nil {
			t.Error(err)
		}
		return died
	}
	type run = func(t *testing.T, e *Engine, p *sluice.Pipeline, d sluice.Delivery) (sluice.Outcome, error)
	for name, test := range map[string]struct {
		first    run   // good ones follow
		attempts []int // that each run is told of, beside those before it came here
		status   sluice.Status
		letters  uint64
	}{
		"it ends well": {func(_ *testing.T, _ *Engine, p *sluice.Pipeline, _ sluice.Delivery) (sluice.Outcome, error) {
			return ok(p.Name, `"good"`), nil
		}, []int{0}, sluice.StatusOK, 0},
		"it fails for good": {func(_ *testing.T, _ *Engine, p *sluice.Pipeline, _ sluice.Delivery) (sluice.Outcome, error) {
			return failure(p), nil
		}, []int{0}, sluice.StatusError, 1},
		"it is given back": {func(*testing.T, *Engine, *sluice.Pipeline, sluice.Delivery) (sluice.Outcome, error) {
			return sluice.Outcome{}, died
		}, []int{0, 0}, sluice.StatusOK, 0},
		"it is tried again": {func(_ *testing.T, _ *Engine, _ *sluice.Pipeline, d sluice.Delivery) (sluice.Outcome, error) {
			return again(d, time.Millisecond), nil
		}, []int{0, 1}, sluice.StatusOK, 0},
		"its outcome is stored": {func(t *testing.T, e *Engine, p *sluice.Pipeline, d sluice.Delivery) (sluice.Outcome, error) {
			return sluice.Outcome{}, stored(t, e, d, ok(p.Name, `"good"`))
		}, []int{0}, sluice.StatusOK, 0},
		"its failure is stored, and no letter": {func(t *testing.T, e *Engine, p *sluice.Pipeline, d sluice.Delivery) (sluice.Outcome, error) {
			return sluice.Outcome{}, stored(t, e, d, failure(p))
		}, []int{0}, sluice.StatusError, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fromEverySource(t, func(t *testing.T, failed int) {
				e := openEngine(t, Options{Dir: t.TempDir()})
				p := bind(t, e, "p", sluice.EventPrefix+"webhook.source", 4)
				runs := make(chan int, 100)
				consume(t, e, p, func(d sluice.Delivery) (sluice.Outcome, error) {
					if d.Attempts < failed {
						return again(d, time.Millisecond), nil
					}
					runs <- d.Attempts - failed
					if len(runs) == 1 {
						return test.first(t, e, p, d)
					}
					return ok(p.Name, `"good"`), nil
				})
				result := send(t, e, "webhook.source", 0)
				natstest.Eventually(t, "the result", func() bool {
					got, err := e.Results.Result(t.Context(), result.CorrelationID, 0)
					return err == nil && got.Status == test.status
				})
				eventuallyNothingIsLeft(t, e, p)
				if got := deadLettersOf(t, e); got != test.letters {
					t.Errorf("there are %d dead letters, want %d", got, test.letters)
				}
				close(runs)
				var attempts []int
				for attempt := range runs {
					attempts = append(attempts, attempt)
				}
				if fmt.Sprint(attempts) != fmt.Sprint(test.attempts) {
					t.Errorf("the runs are told of %v attempts, want %v", attempts, test.attempts)
				}
			})
		})
	}
}

// TestAPausedPipelineLosesNothing: events that run, and those that wait for a slot, are
// delivered when the pipeline goes on, with the same process.
func TestAPausedPipelineLosesNothing(t *testing.T) {
	t.Parallel()
	fromEverySource(t, func(t *testing.T, failed int) {
		const events, concurrency = 20, 4
		e := openEngine(t, Options{Dir: t.TempDir()})
		p := bind(t, e, "p", sluice.EventPrefix+"webhook.paused", concurrency)
		var mu sync.Mutex
		attempts, running := 0, make(chan struct{}, events)
		paused := make(chan struct{})
		stop := consume(t, e, p, func(d sluice.Delivery) (sluice.Outcome, error) {
			if d.Attempts < failed {
				mu.Lock()
				attempts++
				mu.Unlock()
				return again(d, time.Millisecond), nil
			}
			running <- struct{}{}
			<-paused
			return sluice.Outcome{}, errors.New("the pipeline stops")
		})
		var results []sluice.Result
		for range events {
			results = append(results, send(t, e, "webhook.paused", 0))
		}
		natstest.Eventually(t, "all slots are taken", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return attempts == failed*events && len(running) == concurrency/(1+failed) // half of the slots, once they have waited
		})
		time.AfterFunc(time.Millisecond, func() { close(paused) })
		stop()
		consume(t, e, p, func(d sluice.Delivery) (sluice.Outcome, error) { return ok(p.Name, fmt.Sprint(d.Attempts)), nil })
		for _, result := range results {
			got, err := e.Results.Result(t.Context(), result.CorrelationID, patience)
			if err != nil || string(got.Value) != fmt.Sprint(failed) {
				t.Errorf("an event comes to %s %s (%v)", got.Status, got.Value, err)
			}
		}
		eventuallyNothingIsLeft(t, e, p)
	})
}

// TestWhatCantBeReadFromEverySource: an event that can't be decoded is a dead letter,
// also if it is found out only after the event has waited, as a replay.
func TestWhatCantBeReadFromEverySource(t *testing.T) {
	t.Parallel()
	fromEverySource(t, func(t *testing.T, failed int) {
		const concurrency = 2
		e := openEngine(t, Options{Dir: t.TempDir()})
		p := bind(t, e, "p", sluice.EventPrefix+"webhook.spoilt", concurrency)
		running, begin := make(chan struct{}, 10), make(chan struct{})
		release := sync.OnceFunc(func() { close(begin) })
		consume(t, e, p, func(sluice.Delivery) (sluice.Outcome, error) {
			running <- struct{}{}
			<-begin
			return ok(p.Name, `1`), nil
		})
		t.Cleanup(release)
		if failed > 0 { // all slots are taken, so that a replay gives way
			for range concurrency {
				send(t, e, "webhook.spoilt", 0)
			}
			for range concurrency {
				<-running
			}
		}
		_, err := e.host.JS.Publish(t.Context(), sluice.EventPrefix+"webhook.spoilt", []byte(`{"replayOf":"abcdef:1","receivedAt":"2026-01-02T03:04:05Z","payload":spoilt`))
		check(t, err)
		if failed > 0 {
			natstest.Eventually(t, "the replay waits", func() bool { return waitsFor(t, e, p.Binding) })
		}
		release()
		natstest.Eventually(t, "the letter is there", func() bool { return e.Queue.Unreadable() == 1 })
		eventuallyNothingIsLeft(t, e, p)
		if got := deadLettersOf(t, e); got != 1 {
			t.Errorf("there are %d dead letters, want 1", got)
		}
	})
}
