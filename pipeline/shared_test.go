package pipeline_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

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
// come again, an event is given back, and both can when the first one is done.
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
