package pipeline_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"sluice"
	"sluice/command"
	"sluice/pipeline"
)

// TestConcurrentRuns: one program runs many times at once, each run with
// variables of its own. The race detector looks on.
func TestConcurrentRuns(t *testing.T) {
	f := newFixture()
	f.put(t, "p", `
vars: {constant: {list: [1, 2, 3], deep: {a: 1}}, own: "#{body.n}"}
pipeline:
- set: {value: {n: "#{body.n}", all: [1, {two: 2}]}, output: vars.value}
- foreach: {in: "#{1..20}", as: i, do: [set: {value: "#{vars.i + body.n}", output: vars.sum}]}
- if: {true: body.n % 2 == 0, then: [set: {value: even, output: vars.kind}], else: [set: {value: odd, output: vars.kind}]}
- set: {value: "#{[vars.own, vars.sum, vars.kind, vars.value.n, len(vars.constant.list), len(secret('key'))]}"}
`)
	var wait sync.WaitGroup
	for n := range 50 {
		wait.Go(func() {
			out, err := f.call(t.Context(), "pipeline.run", arg("name", "p"), arg("body", map[string]any{"n": n}))
			kind := []string{"even", "odd"}[n%2]
			if want := fmt.Sprintf("[%d %d %s %d 3 6]", n, n+20, kind, n); err != nil || fmt.Sprint(out) != want {
				t.Errorf("run %d gives %v, %v; want %s", n, out, err, want)
			}
		})
	}
	wait.Wait()
}

// BenchmarkRun measures three simple steps on a small event.
func BenchmarkRun(b *testing.B) {
	f := newFixture(func(r *pipeline.RunnerOptions) { r.Observe = func(sluice.RunReport) {} })
	source := "pipeline:\n- set: {value: '#{body.payload.n + 1}', output: vars.n}\n- set: {value: {n: '#{vars.n}', key: '#{body.eventKey}'}}\n- pass\n"
	put, _ := f.set.Find("pipeline.put")
	run, _ := f.set.Find("pipeline.run")
	ctx := sluice.WithUser(context.Background(), sluice.User{Name: "admin", Permissions: []string{"*"}})
	if _, err := f.set.Call(ctx, put, command.Args{arg("name", "p"), arg("source", source)}); err != nil {
		b.Fatal(err)
	}
	args := command.Args{arg("name", "p"), arg("body", delivery().Message)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.set.Call(ctx, run, args); err != nil {
			b.Fatal(err)
		}
	}
}
