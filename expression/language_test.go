package expression

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/parser/operator"
	"github.com/google/go-cmp/cmp"
)

// TestLanguageIsDocumented keeps the list of what expressions can do, to which
// the documentation points.
func TestLanguageIsDocumented(t *testing.T) {
	var b strings.Builder
	for name := range objects {
		fmt.Fprintf(&b, "object   %s\n", name)
	}
	for name, o := range operators {
		fmt.Fprintf(&b, "operator %s: needs %s\n", name, o.needs)
	}
	for _, o := range []string{
		"and, &&: needs true or false", "or, ||: needs true or false", "not, !: needs true or false", "+, -: before a number",
		"??: the second value if the first is null", "?.: a member, or null for all the rest if there is nothing to have members", "null, nil: no value",
		"? :, if { } else { }: one of two values", "[from:to]: a part of a list or text", "|: hands a value to a function as its first",
		"matches: needs text and a pattern in quotes, of RE2", "let name = value; …: names a value", "not in, not contains, not startsWith, not endsWith, not matches",
	} {
		fmt.Fprintf(&b, "operator %s\n", o)
	}
	for _, f := range Functions() {
		fmt.Fprintf(&b, "function %s\n", f.Doc)
	}
	for name, instead := range refused {
		fmt.Fprintf(&b, "refused  %s: %s\n", name, instead)
	}
	lines := strings.SplitAfter(b.String(), "\n")
	slices.Sort(lines)
	CheckGolden(t, "testdata/language.golden", strings.Join(lines, ""))
}

// CheckGolden compares a text with the one kept in a file.
func CheckGolden(t *testing.T, path, got string) {
	t.Helper()
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is not up to date; UPDATE_GOLDEN=1 writes it anew: %s", path, diff)
	}
}

// A newer version of the library may bring functions and operators; each one is
// decided on before it can be used.
func TestEveryFunctionOfTheLibraryIsDecidedOn(t *testing.T) {
	for _, name := range builtin.Names {
		_, isBuiltin := builtins[name]
		_, isPredicate := predicates[name]
		_, isRefused := refused[name]
		if !isBuiltin && !isPredicate && !isRefused {
			t.Errorf("function %s is in no table", name)
		}
	}
	elsewhere := []string{"|", "or", "||", "and", "&&", "??", "matches"}
	for _, name := range slices.Sorted(maps.Keys(operator.Binary)) {
		if _, ok := operators[name]; !ok && !slices.Contains(elsewhere, name) {
			t.Errorf("operator %s is in no table", name)
		}
	}
}

func TestEveryUsageStartsWithItsName(t *testing.T) {
	for name, f := range builtins {
		if !strings.HasPrefix(f.usage, name+"(") {
			t.Errorf("%s: %s", name, f.usage)
		}
	}
	for name, f := range predicates {
		if !strings.HasPrefix(f.usage, name+"(") {
			t.Errorf("%s: %s", name, f.usage)
		}
	}
}
