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
