package portal

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice"
	"sluice/wording"
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

func TestPlotsOfNothing(t *testing.T) {
	t.Parallel()
	for _, p := range []*plot{callPlot(make([]sluice.Minute, 60), spans[1]), latencyPlot(make([]sluice.Minute, 1440), spans[1])} {
		if p.Empty == "" || len(p.Bars) != 0 {
			t.Errorf("%s shows something", p.Title)
		}
	}
}

func TestPlots(t *testing.T) {
	t.Parallel()
	minutes := make([]sluice.Minute, 60)
	minutes[10] = sluice.Minute{CallFigures: sluice.CallFigures{Accepted: 9, OK: 6, Recovered: 1, Retrying: 1, Error: 1, Rejected: 2}, P50: 1.5, P99: 12}
	calls, latency := callPlot(minutes, spans[1]), latencyPlot(minutes, spans[1])
	if len(calls.Bars) != 4 || calls.Empty != "" {
		t.Errorf("the bars are %v", calls.Bars)
	}
	if top := calls.Y[len(calls.Y)-1].Label; top != "12" && top != "15" {
		t.Errorf("the axis ends at %s", top)
	}
	if len(latency.Lines[0].Dots) != 1 || latency.Lines[0].Path != "" {
		t.Errorf("a single point is %+v", latency.Lines[0])
	}
	minutes[11] = minutes[10]
	if line := latencyPlot(minutes, spans[1]).Lines[0]; len(line.Dots) != 0 || !strings.HasPrefix(line.Path, "M") || strings.Count(line.Path, "L") != 1 {
		t.Errorf("two points are %+v", line)
	}
}

func TestShownValues(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		wording.Bytes(999): "999 B", wording.Bytes(1500): "1.5 kB", wording.Bytes(512_000): "512 kB", wording.Bytes(int64(70e9)): "70 GB",
		wording.Count(1234567): "1,234,567", wording.Count(12): "12", plural(1, "step", "steps"): "1 step", plural(0, "step", "steps"): "0 steps",
		shortened("<<<", 10): "<<\n… (3 B in all; the API returns all of it)", clipped("äöü", 2): "ä…",
		pretty(`["\u003cb\u003E \u0026 \\u003c \" \\\u003c"]`): "[\n  \"<b> & \\\\u003c \\\" \\\\<\"\n]", pretty(`\u003c`): `\u003c`,
	} {
		if got != want {
			t.Errorf("%q is shown, want %q", got, want)
		}
	}
}
