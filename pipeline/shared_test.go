package pipeline_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sluice"
	"sluice/limit"
	"sluice/pipeline"
	"sluice/pipeline/pipelinetest"
)

// sharing gives all runs together so much memory.
func sharing(bytes int64) func(*pipeline.RunnerOptions) {
	return func(r *pipeline.RunnerOptions) { r.Limits.Shared = limit.NewMemory(bytes, nil) }
}

const hungry = "set: {value: '#{repeat(\"x\", 7000000)}', output: vars.a, onError: ignore}"

// TestRunsShareMemory: what one run holds another can't have: who calls is told to
// come again, and can when the first one is done; an event has its turn beside it.
func TestRunsShareMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(sharing(10 << 20))
		f.Started = make(chan struct{})
		first := make(chan error)
		ctx := t.Context()
		go func() {
			_, err := f.call(ctx, "pipeline.run", arg("source", "timeout: 1m\npipeline: ["+hungry+", hang]"))
			first <- err
		}()
		<-f.Started
		_, err := f.run(t, "pipeline: ["+hungry+"]")
		if e := pipelinetest.Refused(t, err, "no-run-memory", "try again"); e.Kind != sluice.Unavailable || e.RetryAfter == 0 {
			t.Errorf("the error is %+v", e)
		}
		if _, err := f.run(t, "pipeline: [set: {value: small}]"); err != nil {
			t.Errorf("a run that takes nothing is refused as well: %v", err)
		}
		f.put(t, "p", listening+"- "+hungry)
		defer f.serving(t)()
		f.send(t, "p", delivery())
		if got := <-f.queue.outcomes; got.Status != sluice.StatusOK || got.Attempts != 1 {
			t.Errorf("the event comes to %+v", got)
		}
		<-first
		if _, err := f.run(t, "pipeline: ["+hungry+"]"); err != nil {
			t.Errorf("later the caller gets %v", err)
		}
	})
}

// TestRunsGiveMemoryBack: a run holds what it has, not what it had.
func TestRunsGiveMemoryBack(t *testing.T) {
	f := newFixture(sharing(16 << 20))
	source := "pipeline:\n" + strings.Repeat("- "+strings.Replace(hungry, ", onError: ignore", "", 1)+"\n", 5) + "- set: {value: null, output: vars.a}\n- hang\n"
	f.Started = make(chan struct{})
	ended := make(chan error)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	go func() {
		_, err := f.call(ctx, "pipeline.run", arg("source", source))
		ended <- err
	}()
	select {
	case <-f.Started:
	case err := <-ended:
		t.Fatal(err)
	}
	for range 3 {
		if _, err := f.run(t, "pipeline: ["+hungry+"]"); err != nil {
			t.Error(err)
		}
	}
	end()
	<-ended
}

// TestHungryRunsGoOn: while the memory of all runs is held, runs that want more than is left have it one
// at a time, so that all of them end, and those of another pipeline don't wait behind all of one.
func TestHungryRunsGoOn(t *testing.T) {
	const large = `repeat("x", 7000000)`
	for name, source := range map[string]string{
		"a step":                    listening + "- set: {value: '#{len(" + large + ")}'}",
		"where":                     "pipeline:\n- event.listen: {eventKey: webhook.a, where: '#{len(body.method + " + large + ") > 0}'}\n- set: {value: 7000000}",
		"a pipeline within":         listening + "- pipeline.run: {name: inner, onError: ignore}",
		"a source within":           listening + "- pipeline.run: {source: \"{pipeline: [set: {value: 7000000}], vars: {a: [1" + strings.Repeat(",1", 30_000) + "]}}\", onError: ignore}",
		"a value and one more then": listening + "- set: {value: '#{repeat(\"x\", 2000000)}', output: vars.a}\n- set: {value: '#{len(" + large + ")}'}",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := new(strings.Builder)
				f := newFixture(sharing(10<<20), func(r *pipeline.RunnerOptions) { r.Log = slog.New(slog.NewTextHandler(log, nil)) })
				f.Started = make(chan struct{})
				f.put(t, "inner", "pipeline: [set: {value: '#{len("+large+")}'}]")
				f.put(t, "many", source)
				f.put(t, "few", listening+"- set: {value: '#{len("+large+")}'}")
				defer f.serving(t)()
				end := f.hoard(t)
				began := time.Now()
				for range 40 {
					f.send(t, "many", delivery())
				}
				f.send(t, "few", delivery())
				for i := range 41 {
					got := <-f.queue.outcomes
					if got.Status != sluice.StatusOK || string(got.Value) != "7000000" || got.Attempts != 1 {
						t.Fatalf("it comes to %s %s, %+v", got.Status, got.Value, got.Error)
					}
					if got.Pipeline == "few" && i > 5 {
						t.Errorf("the other pipeline waits behind %d", i)
					}
				}
				if took := time.Since(began); took > 10*time.Second {
					t.Errorf("it took %s", took)
				}
				if n := strings.Count(log.String(), "\n"); n != 1 || !strings.Contains(log.String(), "--memory-limit") {
					t.Errorf("the log has %d lines: %s", n, log)
				}
				end()
			})
		})
	}
}

// hoard lets a run hold most of the memory of all runs, until end is called.
func (f *fixture) hoard(t *testing.T) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = f.call(ctx, "pipeline.run", arg("source", "pipeline: ["+hungry+", hang]"))
	}()
	<-f.Started
	return func() {
		cancel()
		<-ended
	}
}

// TestHungryRunsPassOneThatWaits: a run that is alone and waits for long does not hold up those that find
// memory again.
func TestHungryRunsPassOneThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(sharing(10 << 20))
		f.Started = make(chan struct{})
		f.put(t, "slow", listening+"- "+hungry+"\n- hang")
		f.put(t, "quick", listening+"- "+hungry)
		defer f.serving(t)()
		end := f.hoard(t)
		f.send(t, "slow", delivery())
		<-f.Started // it is alone
		f.send(t, "quick", delivery())
		end()
		if got := <-f.queue.outcomes; got.Pipeline != "quick" || got.Status != sluice.StatusOK {
			t.Errorf("it comes to %+v", got)
		}
	})
}

// TestHungryRunsComeMoreAndMoreSeldom: what a run does outside before it finds no memory is not done again
// each second while the one that is alone goes on.
func TestHungryRunsComeMoreAndMoreSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(sharing(10 << 20))
		f.Started = make(chan struct{}, 2)
		f.put(t, "slow", listening+"- "+hungry+"\n- hang")
		f.put(t, "quick", listening+"- "+hungry)
		defer f.serving(t)()
		end := f.hoard(t)
		f.send(t, "slow", delivery())
		<-f.Started // it is alone
		before := len(f.reports)
		f.send(t, "quick", delivery())
		time.Sleep(time.Minute)
		if runs := len(f.reports) - before; runs < 2 || runs > 7 {
			t.Errorf("it ran %d times", runs)
		}
		end()
		<-f.queue.outcomes
	})
}

// TestPlacesWaitForMemory: while the memory of all runs is held, an event whose where takes some keeps its place,
// and one that is not wanted passes, though its place is a mistake.
func TestPlacesWaitForMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(sharing(10 << 20))
		f.Started = make(chan struct{})
		f.put(t, "p", "order: '#{body.method}'\npipeline:\n- event.listen: {eventKey: webhook.a, "+
			"where: '#{len(body.method + repeat(\"x\", 7000000)) > 0}'}\n")
		f.put(t, "q", "order: '#{body.payload.n[2]}'\npipeline:\n- event.listen: {eventKey: webhook.a, "+
			"where: '#{len(body.method + repeat(\"x\", 7000000)) < 0}'}\n")
		defer f.serving(t)()
		synctest.Wait()
		end := f.hoard(t)
		if place := f.queue.handlers["p"].Place(delivery()); place.Order == 0 {
			t.Error("it has no place")
		}
		f.send(t, "q", delivery())
		if got := <-f.queue.outcomes; got.Status != sluice.StatusPassed {
			t.Errorf("what is not wanted comes to %+v", got)
		}
		end()
	})
}

// TestTooMuchEvenAlone: what would never fit, whoever else runs, fails, and does not come again.
func TestTooMuchEvenAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(sharing(10 << 20))
		f.put(t, "inner", "pipeline: ["+strings.Replace(hungry, ", onError: ignore", "", 1)+"]")
		f.put(t, "p", listening+"- "+hungry+"\n- pipeline.run: {name: inner}")
		defer f.serving(t)()
		f.send(t, "p", delivery())
		if got := <-f.queue.outcomes; got.Status != sluice.StatusError || got.Error.Code != "too-much-memory" {
			t.Errorf("it comes to %+v", got)
		}
	})
}

// TestLargeWhereNeedsASlot: what takes more than a look is decided in a run, within its bounds.
func TestLargeWhereNeedsASlot(t *testing.T) {
	f := newFixture(sharing(10 << 20))
	for repeat, status := range map[string]sluice.Status{"1000": sluice.StatusPassed, "7000000": ""} {
		f.put(t, "p"+repeat, "pipeline:\n- event.listen: {eventKey: webhook.a, where: '#{len(body.method + repeat(\"x\", "+repeat+")) == 0}'}")
		stop := f.serving(t)
		d := delivery()
		d.Peek = true
		f.send(t, "p"+repeat, d)
		if got := <-f.queue.outcomes; got.Status != status {
			t.Errorf("a look at %s comes to %q", repeat, got.Status)
		}
		f.send(t, "p"+repeat, delivery())
		if got := <-f.queue.outcomes; got.Status != sluice.StatusPassed {
			t.Errorf("a run of %s comes to %+v", repeat, got)
		}
		stop()
	}
}
