package run_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sluice"
	"sluice/limit"
	"sluice/pipeline/pipelinetest"
	"sluice/pipeline/run"
	"sluice/problem"
)

// TestLimits: what is too much is refused with a word on what to do, whatever
// a step says about errors.
func TestLimits(t *testing.T) {
	doubling := "body: [x, x, x, x]\npipeline:\n" + strings.Repeat("- set: {value: ['#{body}', '#{body}', '#{body}', '#{body}']}\n", 12)
	large := `['#{repeat("x", 5000000)}', '#{repeat("x", 5000000)}']` // each is not
	many := ""
	for i := range 9 {
		many += fmt.Sprintf("- set: {value: '#{repeat(\"x\", 8000000)}', output: vars.a%d}\n", i)
	}
	tests := []struct {
		name, source string
		limits       run.Limits
		code         string
	}{
		{"loops in loops", "pipeline: [foreach: {in: '#{1..1000}', do: [foreach: {in: '#{1..1000}', do: [foreach: {in: '#{1..1000}', do: [pass]}]}]}]", run.Limits{}, "too-many-steps"},
		{"errors that are ignored", "pipeline: [foreach: {in: '#{1..100}', onError: ignore, do: [foreach: {in: '#{1..1000}', onError: ignore, do: [fail: {message: x, onError: ignore}]}]}]", run.Limits{}, "too-many-steps"},
		{"rounds of a loop in which nothing is done", "pipeline: [foreach: {in: '#{1..5000}', do: [foreach: {in: '#{1..5000}', do: [pass: {if: false}]}]}]", run.Limits{}, "too-many-steps"},
		{"items of a loop", "pipeline: [foreach: {in: '#{1..10001}', do: [pass]}]", run.Limits{}, "too-many-items"},
		{"a value that holds itself again and again", doubling, run.Limits{}, "value-too-large"},
		{"a value of a variable", "vars: {a: " + large + "}\npipeline: [pass]", run.Limits{}, "value-too-large"},
		{"arguments", "pipeline: [log: {message: " + large + "}]", run.Limits{}, "value-too-large"},
		{"an input", "pipeline: [log: {input: " + large + "}]", run.Limits{}, "value-too-large"},
		{"an answer of a command", "pipeline: [swell: {input: text}]", run.Limits{}, "value-too-large"},
		{"a list", "pipeline: [swell: {input: list}]", run.Limits{}, "too-many-items"},
		{"an object", "pipeline: [swell: {input: object}]", run.Limits{}, "too-many-items"},
		{"a value that grows in depth", "pipeline: [foreach: {in: '#{1..2000}', do: [set: {value: ['#{body}']}]}]", run.Limits{}, "value-too-deep"},
		{"a value that is deep from the start", "body: '#{fromJSON(\"" + strings.Repeat("[", 900) + strings.Repeat("]", 900) + "\")}'\npipeline:\n" + strings.Repeat("- set: {value: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[['#{body}']]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}\n", 3), run.Limits{}, "value-too-deep"},
		{"many large variables", "pipeline:\n" + many, run.Limits{}, "too-much-memory"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := newFixture(test.limits).run(t, test.source)
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
	f := newFixture(run.Limits{})
	source := `pipeline: [foreach: {in: '#{1..12}', do: [set: {value: '#{repeat("x", 8000000)}'}, set: {value: '#{repeat("x", 8000000)}', output: vars.a}]}]`
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
				_, err := newFixture(run.Limits{RunTime: 10 * time.Second}).run(t, test.source)
				pipelinetest.Refused(t, err, "run-too-long", "Step 1, ")
				if took := time.Since(started); took > 10*time.Second {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
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
			_, err := newFixture(run.Limits{Shared: limit.NewMemory(1<<30, nil)}).run(t, source)
			if e := pipelinetest.Refused(t, err, "too-much-memory", "128 MiB"); e.Kind != sluice.TooLarge {
				t.Errorf("the kind is %s", e.Kind)
			}
		})
	}
}

// TestWhatCanNeverFit: what would take more than three times the memory of all runs is refused
// at once, in a step and in a command that is called directly.
func TestWhatCanNeverFit(t *testing.T) {
	limits := run.Limits{Shared: limit.NewMemory(1<<20, nil)}
	for bytes, fits := range map[int64]bool{1 << 10: true, 3 << 20: true, 3<<20 + 3: false, 1 << 40: false} {
		release, err := limits.Reserve(t.Context(), bytes)
		if err == nil {
			release()
		}
		if fits != (err == nil) || !fits && !sluice.CodeTooMuchMemory.Is(err) {
			t.Errorf("%d bytes give %v", bytes, err)
		}
	}
	const source = "pipeline:\n- convert.fromYaml: {input: '#{text.repeat(\"[],\", 20000)}'}\n"
	if _, err := newFixture(limits).run(t, source); err == nil {
		t.Error("a step takes more than there is")
	}
}
