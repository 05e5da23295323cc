package pipeline_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"sluice"
	"sluice/limit"
	"sluice/pipeline"
)

// sharing gives all runs together so much memory.
func sharing(bytes int64) func(*pipeline.RunnerOptions) {
	return func(r *pipeline.RunnerOptions) { r.Limits.Shared = limit.NewMemory(bytes, nil) }
}

const hungry = "set: {value: '#{repeat(\"x\", 7000000)}', output: vars.a, onError: ignore}"

// TestRunsShareMemory: what one run holds another can't have: who calls is told to
// come again, an event is given back, and both can when the first one is done.
func TestRunsShareMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(sharing(10 << 20))
		f.started = make(chan struct{})
		first := make(chan error)
		ctx := t.Context()
		go func() {
			_, err := f.call(ctx, "pipeline.run", arg("source", "timeout: 1m\npipeline: ["+hungry+", hang]"))
			first <- err
		}()
		<-f.started
		_, err := f.run(t, "pipeline: ["+hungry+"]")
		if e := refused(t, err, "no-run-memory", "try again"); e.Kind != sluice.Unavailable || e.RetryAfter == 0 {
			t.Errorf("the error is %+v", e)
		}
		if _, err := f.run(t, "pipeline: [set: {value: small}]"); err != nil {
			t.Errorf("a run that takes nothing is refused as well: %v", err)
		}
		f.put(t, "p", listening+"- "+hungry)
		defer f.serving(t)()
		f.send(t, "p", delivery())
		if err := <-f.queue.errors; sluice.AsError(err).Code != "no-run-memory" {
			t.Errorf("the event is given back because of %v", err)
		}
		<-first
		f.send(t, "p", delivery())
		if got := <-f.queue.outcomes; got.Status != sluice.StatusOK || got.Attempts != 1 {
			t.Errorf("later it comes to %+v", got)
		}
	})
}

// TestRunsGiveMemoryBack: a run holds what it has, not what it had.
func TestRunsGiveMemoryBack(t *testing.T) {
	f := newFixture(sharing(16 << 20))
	source := "pipeline:\n" + strings.Repeat("- "+strings.Replace(hungry, ", onError: ignore", "", 1)+"\n", 5) + "- set: {value: null, output: vars.a}\n- hang\n"
	f.started = make(chan struct{})
	ended := make(chan error)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	go func() {
		_, err := f.call(ctx, "pipeline.run", arg("source", source))
		ended <- err
	}()
	select {
	case <-f.started:
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

// TestOneStepMakesTooMuch: each expression of a step is allowed, all of them are
// not; nor is a text that is small until it is decoded.
func TestOneStepMakesTooMuch(t *testing.T) {
	large := `'#{repeat("x", 7000000)}'`
	for name, source := range map[string]string{
		"a list of large texts":         "pipeline: [set: {value: [" + strings.Repeat(large+",", 30) + large + "]}]",
		"a list of many at the start":   "body: [" + strings.Repeat(large+",", 30) + large + "]\npipeline: [pass]",
		"a text that swells":            "pipeline: [set: {value: '#{repeat(\"[{},\", 1000000)}'}, convert.fromSwelling]",
		"a text that a function swells": "pipeline: [set: {value: '#{convert.fromSwelling(repeat(\"[{},\", 1000000))}'}]",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := newFixture(sharing(1<<30)).run(t, source)
			if e := refused(t, err, "too-much-memory", "128 MiB"); e.Kind != sluice.TooLarge {
				t.Errorf("the kind is %d", e.Kind)
			}
		})
	}
}
