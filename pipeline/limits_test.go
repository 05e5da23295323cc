package pipeline_test

import (
	"context"
	"testing"

	"sluice"
	"sluice/pipeline"
	"sluice/pipeline/pipelinetest"
)

// TestRecursion: pipelines that run themselves come to an end.
func TestRecursion(t *testing.T) {
	f := newFixture()
	f.put(t, "again", "pipeline: [pipeline.run: {name: again}]")
	_, err := f.call(t.Context(), "pipeline.run", arg("name", "again"))
	e := pipelinetest.Refused(t, err, "too-many-hops", "in a loop")
	if e.Kind != sluice.Invalid {
		t.Errorf("the kind is %s", e.Kind)
	}
	reports := len(f.reports)
	if reports != sluice.MaxHops+1 {
		t.Errorf("there were %d runs, want %d", reports, sluice.MaxHops+1)
	}
	first := (<-f.reports).TraceID
	for range reports - 1 {
		if report := <-f.reports; report.TraceID != first {
			t.Errorf("a run has the trace id %s, another one %s", report.TraceID, first)
		}
	}
}

// TestTooManyRuns: callers beyond the bound are told to come again; runs within
// runs are not counted.
func TestTooManyRuns(t *testing.T) {
	f := newFixture(func(r *pipeline.RunnerOptions) { r.MaxRuns = 1 })
	f.Started = make(chan struct{})
	ended := make(chan error)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	f.put(t, "inner", "pipeline: [set: {value: 1}]")
	if _, err := f.run(t, "pipeline: [pipeline.run: {name: inner}]"); err != nil {
		t.Fatal(err)
	}
	go func() {
		_, err := f.call(ctx, "pipeline.run", arg("source", "pipeline: [hang]"))
		ended <- err
	}()
	<-f.Started
	_, err := f.run(t, "pipeline: [pass]")
	if e := pipelinetest.Refused(t, err, "too-many-runs", "try again"); e.RetryAfter == 0 || e.Kind != sluice.Unavailable {
		t.Errorf("the error is %+v", e)
	}
	end()
	<-ended
	if _, err := f.run(t, "pipeline: [pass]"); err != nil {
		t.Errorf("after it: %v", err)
	}
}
