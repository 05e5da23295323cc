package rehearse_test

import (
	"os"
	"strings"
	"testing"

	"sluice/pipeline/pipelinetest"
	"sluice/pipeline/rehearse"
	"sluice/pipeline/run"
	"sluice/pipeline/source"
)

// TestTests: pipelines carry their tests; the file says in their names what must
// come of them.
func TestTests(t *testing.T) {
	text, err := os.ReadFile("testdata/tests.yaml")
	if err != nil {
		t.Fatal(err)
	}
	program, err := source.Parse(string(text), commands(), pipelinetest.Language())
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, result := range rehearse.Test(t.Context(), program, run.Limits{}) {
		verdict := "failed"
		if result.Passed {
			verdict = "passed"
		}
		got.WriteString(result.Name + ": " + verdict + "\n")
		if result.Message != "" {
			got.WriteString("    " + result.Message + "\n")
		}
		if want := strings.HasPrefix(result.Name, "wrong"); result.Passed == want {
			t.Errorf("%s: passed is %t: %s", result.Name, result.Passed, result.Message)
		}
	}
	pipelinetest.Golden(t, "testdata/tests.golden", got.String())
}

// TestTestsOfFilters: a test says that an event is passed over, or that it is not.
func TestTestsOfFilters(t *testing.T) {
	const text = `
pipeline:
- event.listen: {eventKey: webhook.push, type: [push, pull_*], where: '#{body.payload.n > 1}'}
- pass
tests:
- {name: wanted, event: {type: push, payload: {n: 2}}, expect: {calls: []}}
- {name: another type, event: {type: ping, payload: {n: 2}}, expect: {passed: true}}
- {name: the beginning of a type, event: {type: pull_request, payload: {n: 2}}}
- {name: no type, event: {payload: {n: 2}}, expect: {passed: true}}
- {name: where is false, event: {type: push, payload: {n: 1}}, expect: {passed: true}}
- {name: where fails, event: {type: push, payload: {n: x}}, expect: {error: {code: expression-failed, message: 'Step 1, event.listen'}}}
- {name: by hand, body: {payload: {n: 0}}}
- {name: 'wrong: it is passed over', event: {type: ping}}
- {name: 'wrong: it is not', event: {type: push, payload: {n: 2}}, expect: {passed: true}}
`
	program, err := source.Parse(text, commands(), pipelinetest.Language())
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range rehearse.Test(t.Context(), program, run.Limits{}) {
		if wrong := strings.HasPrefix(result.Name, "wrong"); result.Passed == wrong || wrong && !strings.Contains(result.Message, "passed over") {
			t.Errorf("%s: %t, %s", result.Name, result.Passed, result.Message)
		}
	}
}
