package pipeline_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"sluice"
	"sluice/pipeline"
	"sluice/pipeline/pipelinetest"
)

func withPast(p *pipelinetest.Past) func(*pipeline.RunnerOptions) {
	return func(o *pipeline.RunnerOptions) { o.Journal = p }
}

// try tries a draft.
func (f *fixture) try(ctx context.Context, source string, limit int, after string) (sluice.TryResult, error) {
	out, err := f.call(ctx, "pipeline.try", arg("source", source), arg("limit", limit), arg("after", after))
	found, _ := out.(sluice.TryResult)
	return found, err
}

// TestTryIsStopped: it ends when its caller has gone, and makes room for others.
func TestTryIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipelinetest.Past{Events: 1000}
		f := newFixture(withPast(p))
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		if _, err := f.try(ctx, listening+"- slow", 1000, ""); !errors.Is(err, context.DeadlineExceeded) || p.Read > 4 {
			t.Errorf("it ended with %v after %d events", err, p.Read)
		}
		for range 5 {
			if _, err := f.try(t.Context(), listening+"- pass", 1, ""); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestTryOnOneCall: it takes the whole trace id of a call, without which events are
// tried that nobody asked for.
func TestTryOnOneCall(t *testing.T) {
	t.Parallel()
	f := newFixture(withPast(&pipelinetest.Past{Events: 1}))
	const source = listening + "- pass"
	out, err := f.call(t.Context(), "pipeline.try", arg("source", source), arg("traceId", "abcdef:0"))
	if err != nil {
		t.Fatal(err)
	}
	if found := out.(sluice.TryResult); found.Tried() != 1 || len(found.Items) != 1 || found.Items[0].TraceID != "abcdef:0" {
		t.Errorf("it is %+v", found)
	}
	if _, err := f.call(t.Context(), "pipeline.try", arg("source", source), arg("traceId", "abcdef")); sluice.AsError(err).Parameter != "traceId" {
		t.Errorf("a part of a trace id is answered with %v", err)
	}
}
