// Package expression compiles and runs the expressions of pipelines: texts with #{…} or
// ${…} in them. The language and its parser are expr-lang's. The evaluation is our own,
// because every operation must be bounded: authors are half trusted, payloads not at all,
// and without limits one expression could block a core for hours.
//
// An expression works on JSON values, as package value defines them, and internally on
// times and durations, which leave it as text. Values are shared, never copied: treat
// them as read-only.
//
// The list of operators and built-in functions is testdata/language.golden.
package expression

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"sluice"
)

// Function is a function that expressions can call. Package expression bounds its
// arguments and result; the function must bound its own work.
type Function = func(args ...any) (any, error)

// Language compiles expressions that may call its functions.
type Language struct {
	functions map[string]Function
	names     []string // of the functions, in order
	callable  []string // with the built-in ones, for hints
	early     bool     // see OfBody
}

// OfBody returns the language of expressions that are computed before a run: they see the body
// alone, and no secrets.
func (l *Language) OfBody() *Language {
	early := *l
	early.early = true
	return &early
}

// mostDots is how many dots the name of a function may have.
const mostDots = 4

var functionName = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9]*(\.[a-zA-Z][a-zA-Z0-9]*){1,4}$`)

// NewLanguage returns a language with functions under dotted names such as
// convert.fromBase64. It panics on an invalid name.
func NewLanguage(functions map[string]Function) *Language {
	l := &Language{functions: functions, names: slices.Sorted(maps.Keys(functions))}
	for _, name := range l.names {
		group, _, _ := strings.Cut(name, ".")
		_, isObject := objects[group]
		if !functionName.MatchString(name) || isObject || functions[name] == nil {
			panic("expression: bad function " + name)
		}
	}
	l.callable = slices.Concat([]string{"secret"}, l.names, slices.Sorted(maps.Keys(builtins)),
		slices.Sorted(maps.Keys(predicates)))
	return l
}

// Functions describes the functions that every language has.
func Functions() []sluice.Word {
	words := make([]sluice.Word, 0, 1+len(builtins)+len(predicates))
	words = append(words, sluice.Word{Name: "secret", Doc: `secret("name"): the secret with that name`})
	for name, f := range builtins {
		words = append(words, sluice.Word{Name: name, Doc: f.usage})
	}
	for name, p := range predicates {
		words = append(words, sluice.Word{Name: name, Doc: p.usage})
	}
	slices.SortFunc(words, func(a, b sluice.Word) int { return strings.Compare(a.Doc, b.Doc) })
	return words
}

func (l *Language) isFunction(name string) bool { return slices.Contains(l.callable, name) }

// uses reports whether a name is a function or a group of functions.
func (l *Language) uses(name string) bool {
	return slices.ContainsFunc(l.callable, func(callable string) bool {
		return callable == name || strings.HasPrefix(callable, name+".")
	})
}
