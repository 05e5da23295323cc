package pipeline_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"

	"sluice/limit"
	"sluice/pipeline"
)

// TestComputing: what a pipeline computes for long waits for a place, wherever that is in its source. If
// the service stops meanwhile there was no attempt.
func TestComputing(t *testing.T) {
	const long = `count(1..700, let x = #; count(1..70, # * x % 7 == 3) > 0)`
	for name, source := range map[string]string{
		"a step": listening + "- set: {value: '#{" + long + "}', onError: ignore}",
		"where":  "pipeline:\n- event.listen: {eventKey: webhook.a, where: 'body != " + long + "'}\n- pass",
		"order":  "order: '#{" + long + "}'\n" + listening + "- pass",
		"within": listening + "- pipeline.run: {source: \"pipeline: [set: {value: '#{" + long + "}'}]\"}",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				computing := limit.NewComputing()
				f := newFixture(func(r *pipeline.RunnerOptions) { r.Limits.Computing = computing })
				f.put(t, "p", source)
				for range max(1, runtime.GOMAXPROCS(0)-1) {
					w := computing.Work(t.Context(), "others", "others")
					if err := w.Spend(w.Left() + 1); err != nil {
						t.Fatal(err)
					}
					defer w.Rest()
				}
				stop := f.serving(t)
				f.send(t, "p", delivery())
				synctest.Wait()
				if len(f.queue.outcomes)+len(f.queue.errors) > 0 {
					t.Error("it does not wait")
				}
				stop()
				if err := <-f.queue.errors; !errors.Is(err, context.Canceled) {
					t.Errorf("the error is %v", err)
				}
			})
		})
	}
}
