package pipeline_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sluice/pipeline"
	"sluice/pipeline/pipelinetest"
)

// TestTestsEnd: tests that would work for hours are stopped.
func TestTestsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(func(r *pipeline.RunnerOptions) { r.MaxRuns = 1 })
		source := "pipeline: [foreach: {in: '#{1..1000}', do: [slow]}]\ntests:\n"
		for i := range 10 {
			source += fmt.Sprintf("- name: t%d\n", i)
		}
		started := time.Now()
		answer, err := f.call(t.Context(), "pipeline.test", arg("source", source))
		if got := object(t, answer, err); got["failed"] != 10.0 || !strings.Contains(fmt.Sprint(got["tests"]), "took longer than 5s") {
			t.Errorf("the answer is %v", got)
		}
		if took := time.Since(started); took > 31*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

// TestTestCommand: the same over a command, for a source or a stored pipeline.
func TestTestCommand(t *testing.T) {
	f := newFixture()
	source := "pipeline: [set: {value: 1}]\ntests:\n- {name: good, expect: {body: 1}}\n- {name: bad, expect: {body: 2}}"
	want := `{"passed":1,"failed":1,"tests":[{"name":"good","passed":true},{"name":"bad","passed":false,"message":"The body is 1, wanted 2."}]}`
	f.put(t, "p", source)
	for _, given := range []string{"source", "name"} {
		value := map[string]string{"source": source, "name": "p"}[given]
		answer, err := f.call(t.Context(), "pipeline.test", arg(given, value))
		if got := show(t, answer, err); got != want {
			t.Errorf("the answer is %s, want %s", got, want)
		}
	}
	answer, err := f.call(t.Context(), "pipeline.test", arg("source", "pipeline: [pass]"))
	if got := show(t, answer, err); got != `{"passed":0,"failed":0,"tests":[]}` {
		t.Errorf("the answer is %s", got)
	}
	_, err = f.call(t.Context(), "pipeline.test", arg("source", "pipeline: [passs]"))
	pipelinetest.Refused(t, err, "pipeline-invalid", "")
}
