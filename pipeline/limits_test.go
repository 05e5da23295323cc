package pipeline_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sluice"
	"sluice/pipeline"
	"sluice/problem"
)

// TestLimits: what is too much is refused with a word on what to do, whatever
// a step says about errors.
func TestLimits(t *testing.T) {
	limits := func(l pipeline.Limits) func(*pipeline.RunnerOptions) {
		return func(r *pipeline.RunnerOptions) { r.Limits = l }
	}
	doubling := "body: [x, x, x, x]\npipeline:\n" + strings.Repeat("- set: {value: ['#{body}', '#{body}', '#{body}', '#{body}']}\n", 12)
	tests := []struct {
		name, source string
		limits       pipeline.Limits
		code         string
	}{
		{"loops in loops", "pipeline: [foreach: {in: '#{1..1000}', do: [foreach: {in: '#{1..1000}', do: [foreach: {in: '#{1..1000}', do: [pass]}]}]}]", pipeline.Limits{}, "too-many-steps"},
		{"errors that are ignored", "pipeline: [foreach: {in: '#{1..100}', onError: ignore, do: [foreach: {in: '#{1..1000}', onError: ignore, do: [fail: {message: x, onError: ignore}]}]}]", pipeline.Limits{}, "too-many-steps"},
		{"rounds of a loop in which nothing is done", "pipeline: [foreach: {in: '#{1..5000}', do: [foreach: {in: '#{1..5000}', do: [pass: {if: false}]}]}]", pipeline.Limits{}, "too-many-steps"},
		{"items of a loop", "pipeline: [foreach: {in: '#{1..10001}', do: [pass]}]", pipeline.Limits{}, "too-many-items"},
		{"a value that holds itself again and again", doubling, pipeline.Limits{}, "value-too-large"},
		{"a value of a variable", "vars: {a: abcdefghij}\npipeline: [pass]", pipeline.Limits{Value: 8}, "value-too-large"},
		{"arguments", "body: abcdefghij\npipeline: [log: {message: '#{body}#{body}'}]", pipeline.Limits{Value: 15}, "value-too-large"},
		{"an input", "body: abcdefghij\npipeline: [log: {input: '#{body}#{body}'}]", pipeline.Limits{Value: 15}, "value-too-large"},
		{"an answer of a command", "body: abcdefghijabcdefghij\npipeline: [http.request: {url: '#{body}'}]", pipeline.Limits{Value: 40}, "value-too-large"},
		{"a list", "pipeline: [set: {value: [1, 2, 3]}]", pipeline.Limits{List: 2}, "too-many-items"},
		{"an object", "pipeline: [set: {value: {a: 1, b: 2, c: 3}}]", pipeline.Limits{List: 2}, "too-many-items"},
		{"a value that grows in depth", "pipeline: [foreach: {in: '#{1..2000}', do: [set: {value: ['#{body}']}]}]", pipeline.Limits{}, "value-too-deep"},
		{"a value that is deep from the start", "body: '#{fromJSON(\"" + strings.Repeat("[", 900) + strings.Repeat("]", 900) + "\")}'\npipeline:\n" + strings.Repeat("- set: {value: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[['#{body}']]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}\n", 3), pipeline.Limits{}, "value-too-deep"},
		{"many large variables", "body: abcdefghij\npipeline: [set: {value: '#{body}', output: vars.a}, set: {value: '#{body}', output: vars.b}]", pipeline.Limits{Memory: 30}, "too-much-memory"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := newFixture(limits(test.limits)).run(t, test.source)
			e := sluice.AsError(err)
			if err == nil || e.Code != test.code {
				t.Fatalf("the error is %v, want %s", err, test.code)
			}
			if problem.Status(e) >= 500 {
				t.Errorf("the status is %d: it would be tried again", problem.Status(e))
			}
		})
	}
}

// TestMemoryIsGivenBack: what replaces a value takes its place.
func TestMemoryIsGivenBack(t *testing.T) {
	f := newFixture(func(r *pipeline.RunnerOptions) { r.Limits.Memory = 100 })
	source := "pipeline: [foreach: {in: '#{1..50}', do: [set: {value: 'abcdefghij'}, set: {value: 'abcdefghij', output: vars.a}]}]"
	if _, err := f.run(t, source); err != nil {
		t.Fatal(err)
	}
}

// TestRunTime: a run that takes too long is stopped, at its step.
func TestRunTime(t *testing.T) {
	tests := []struct{ name, source string }{
		{"a step that waits", "timeout: 5s\npipeline: [wait: {duration: 1h}]"},
		{"a wait between tries", "timeout: 5s\npipeline: [fail: {message: x, onError: {retry: {times: 20, wait: 1700ms}}}]"},
		{"ignored", "timeout: 5s\npipeline: [wait: {duration: 1h, onError: ignore}, pass]"},
		{"the limit of the server", "pipeline: [wait: {duration: 1h}]"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				started := time.Now()
				_, err := newFixture(func(r *pipeline.RunnerOptions) { r.Limits.RunTime = 10 * time.Second }).run(t, test.source)
				refused(t, err, "run-too-long", "Step 1, ")
				if took := time.Since(started); took > 10*time.Second {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}

// TestRecursion: pipelines that run themselves come to an end.
func TestRecursion(t *testing.T) {
	f := newFixture()
	f.put(t, "again", "pipeline: [pipeline.run: {name: again}]")
	_, err := f.call(t.Context(), "pipeline.run", arg("name", "again"))
	e := refused(t, err, "too-many-hops", "in a loop")
	if e.Kind != sluice.Invalid {
		t.Errorf("the kind is %d", e.Kind)
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

// TestSources: bombs among sources are refused, quickly and in words.
func TestSources(t *testing.T) {
	lines := func(count int, format string) string {
		var b strings.Builder
		for i := range count {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	tests := []struct{ name, source, says string }{
		{"too large", "vars: {a: " + strings.Repeat("x", pipeline.MaxSource) + "}", "at most 262144"},
		{"no UTF-8", "pipeline: [\xff]", "UTF-8"},
		{"an alias bomb", "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c]", "aliases"},
		{"an alias of itself", "a: &a [*a]", "aliases"},
		{"depth in flow", strings.Repeat("[", 100_000), "not YAML"},
		{"depth in block", strings.Repeat("- ", 100_000), ""},
		{"depth in JSON", `{"a":` + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + "}", "nested more than 1000"},
		{"depth beyond JSON", `{"a":` + strings.Repeat("[", 100_000), "not JSON"},
		{"questions", strings.Repeat("? ", 100_000), ""},
		{"too many steps", "pipeline:\n" + lines(1001, "- pass: {id: s%d}\n"), "more than 1000 steps"},
		{"too many steps in blocks", "pipeline:\n" + lines(501, "- if: {id: s%d, true: true, then: [pass]}\n"), "more than 1000 steps"},
		{"too many variables", "pipeline: [pass]\nvars:\n" + lines(1001, "  v%d: 1\n"), "at most 1000"},
		{"mistakes without end", "pipeline:\n" + lines(20_000, "- x%d\n"), "99 more problems"},
		{"mistakes on one line", `{"pipeline":[` + strings.Repeat(`{"set":{"value":"#{"}},`, 10_000) + `"pass"]}`, "99 more problems"},
		{"control characters", "pipeline: [\x00]", "not YAML"},
		{"a byte order mark", "\ufeffpipeline: [passs]", "did you mean pass?"},
		{"an expression bomb", "pipeline: [set: {value: '#{" + strings.Repeat("1+", 3000) + "1" + "}'}]", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := newFixture().Parse(test.source)
			refused(t, err, "pipeline-invalid", test.says)
		})
	}
}

// TestTooManyRuns: callers beyond the bound are told to come again; runs within
// runs are not counted.
func TestTooManyRuns(t *testing.T) {
	f := newFixture(func(r *pipeline.RunnerOptions) { r.MaxRuns = 1 })
	f.started = make(chan struct{})
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
	<-f.started
	_, err := f.run(t, "pipeline: [pass]")
	if e := refused(t, err, "too-many-runs", "try again"); e.RetryAfter == 0 || e.Kind != sluice.Unavailable {
		t.Errorf("the error is %+v", e)
	}
	end()
	<-ended
	if _, err := f.run(t, "pipeline: [pass]"); err != nil {
		t.Errorf("after it: %v", err)
	}
}
