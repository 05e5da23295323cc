package source_test

import (
	"fmt"
	"strings"
	"testing"

	"sluice/pipeline/pipelinetest"
	"sluice/pipeline/source"
)

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
		{"too large", "vars: {a: " + strings.Repeat("x", source.MaxSource) + "}", "at most 262144"},
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
			_, err := parse(test.source)
			pipelinetest.Refused(t, err, "pipeline-invalid", test.says)
		})
	}
}

// TestProblemsForLogs: the error of Parse has all mistakes in its text.
func TestProblemsForLogs(t *testing.T) {
	_, err := parse("pipeline:\n- a.b.c\n- d.e.f")
	if text := err.Error(); !strings.Contains(text, "2:3: ") || !strings.Contains(text, "3:3: ") {
		t.Errorf("the error is %s", text)
	}
}
