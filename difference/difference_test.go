package difference_test

import (
	"strings"
	"testing"

	"sluice/difference"
)

func TestLines(t *testing.T) {
	for name, test := range map[string]struct{ before, after, want string }{
		"nothing":        {"a\nb\n", "a\nb\n", ""},
		"all new":        {"", "a\nb\n", "+a+b"},
		"all gone":       {"a\n", "", "-a"},
		"a line":         {"1\n2\n3\n4\n5\n6\n7\n", "1\n2\n3\nx\n5\n6\n7\n", " 2 3-4+x 5 6"},
		"without an end": {"a\nb", "a\nb\nc", " a b+c"},
	} {
		got := ""
		for _, e := range difference.Lines(test.before, test.after) {
			got += string(e.Sign) + e.Line
		}
		if got != test.want {
			t.Errorf("%s: it is %q, want %q", name, got, test.want)
		}
	}
	many := strings.Repeat("x\n", 3000)
	if edits := difference.Lines(many+"a\n"+many, many+"b\n"+many); len(edits) != 6 {
		t.Errorf("a change among many lines is %d lines", len(edits))
	}
}
