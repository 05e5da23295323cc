package pipelines

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice"
)

func TestFragments(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]fragment{
		"":                        nil,
		"# a note":                {{"hl-comment", "# a note"}},
		"pipeline:":               {{"hl-key", "pipeline"}, {"", ":"}},
		"  - log: hi # said":      {{"", "  - "}, {"hl-key", "log"}, {"", ": hi "}, {"hl-comment", "# said"}},
		"retry: {times: 3}":       {{"hl-key", "retry"}, {"", ": {"}, {"hl-key", "times"}, {"", ": "}, {"hl-number", "3"}, {"", "}"}},
		`"true": "a #{b} c ${d}"`: {{"hl-key", `"true"`}, {"", ": "}, {"hl-text", `"a `}, {"hl-expression", "#{b}"}, {"hl-text", " c "}, {"hl-expression", "${d}"}, {"hl-text", `"`}},
		"value: #{body.a > 1}":    {{"hl-key", "value"}, {"", ": "}, {"hl-expression", "#{body.a > 1}"}},
		`x: "open`:                {{"hl-key", "x"}, {"", ": "}, {"hl-text", `"open`}},
		"url: http://a.b/c#d":     {{"hl-key", "url"}, {"", ": http://a.b/c#d"}},
		"x: ${never ends":         {{"hl-key", "x"}, {"", ": "}, {"hl-expression", "${never ends"}},
		"duration: 30ms":          {{"hl-key", "duration"}, {"", ": 30ms"}},
		"on: true":                {{"hl-key", "on"}, {"", ": "}, {"hl-number", "true"}},
	} {
		if diff := cmp.Diff(want, fragments(line)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
}

// FuzzHighlight: whatever a source is, its lines are shown as they are written.
func FuzzHighlight(f *testing.F) {
	f.Add("pipeline:\n  - log: 'a #{b}' # c\n")
	f.Add("\"\\\"#{\x00\xff${'")
	f.Fuzz(func(t *testing.T, source string) {
		var lines []string
		for i, line := range highlight(source, []sluice.Finding{{Line: 1}, {Line: 99}, {Line: -1}}) {
			if line.Number != i+1 {
				t.Fatalf("line %d has the number %d", i+1, line.Number)
			}
			var text strings.Builder
			for _, p := range line.Fragments {
				text.WriteString(p.Text)
			}
			lines = append(lines, text.String())
		}
		if got := strings.Join(lines, "\n"); got != strings.TrimSuffix(source, "\n") {
			t.Fatalf("%q became %q", source, got)
		}
	})
}
