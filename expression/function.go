package expression

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// A declaration is a row of the tables of built-in functions.
type declaration struct {
	usage string // begins with the name
	takes string // the kinds of its arguments; text? may be left out, text… repeated
	run   operation
}

// function is a built-in function. Its arguments are checked before it runs.
type function struct {
	declaration

	kinds  []kind
	needed int  // how many arguments are required
	many   bool // the last argument may be repeated
}

// kind is the type of value that a built-in function needs as an argument.
type kind struct {
	name string
	fit  func(v any) (fitting any, ok bool)
}

// kinds has the kinds by their words in declarations.
var kinds = map[string]kind{
	"any":    {"any value", func(v any) (any, bool) { return v, true }},
	"text":   {"text", is[string]},
	"list":   {"a list", is[[]any]},
	"object": {"an object", is[map[string]any]},
	"number": {"a number", func(v any) (any, bool) { _, ok := float(v); return v, ok }},
	"whole":  {"a whole number", func(v any) (any, bool) { return whole(v) }}, // as an int
}

func is[T any](v any) (any, bool) {
	_, ok := v.(T)
	return v, ok
}

// builtins has the built-in functions without a predicate.
var builtins = func() map[string]function {
	all := map[string]function{}
	for _, d := range slices.Concat(
		textFunctions, formatFunctions, listFunctions, objectFunctions, numberFunctions, timeFunctions,
	) {
		takes, many := strings.CutSuffix(d.takes, "…")
		f := function{declaration: d, many: many}
		for word := range strings.FieldsSeq(takes) {
			word, optional := strings.CutSuffix(word, "?")
			if !optional {
				f.needed++
			}
			f.kinds = append(f.kinds, kinds[word])
		}
		name, _, _ := strings.Cut(d.usage, "(")
		all[name] = f
	}
	return all
}()

// refused has the functions of expr-lang that are not available, with alternatives.
var refused = map[string]string{"timezone": "give date the name of the zone: date(text, layout, zone)"}

func (c *compiler) builtin(node *ast.BuiltinNode) eval {
	if _, ok := predicates[node.Name]; ok {
		return c.predicate(node)
	}
	if instead, ok := refused[node.Name]; ok {
		return c.mistake(node, "The function %s is not available; %s.", node.Name, instead)
	}
	fn, ok := builtins[node.Name]
	if !ok {
		return c.noFunction(node, node.Name)
	}
	if n := len(node.Arguments); n < fn.needed || n > len(fn.kinds) && !fn.many {
		return c.mistake(node, "%s got %d values; use %s.", node.Name, n, fn.usage)
	}
	if node.Name == "len" {
		c.Lengths = append(c.Lengths, path(node.Arguments[0], 0))
	}
	return strict(func(f *frame, args []any) any {
		for i, arg := range args {
			needs := fn.kinds[min(i, len(fn.kinds)-1)]
			var ok bool
			if args[i], ok = needs.fit(arg); !ok {
				fail("%s needs %s, not %s", node.Name, needs.name, describe(arg))
			}
		}
		return fn.run(f, args)
	}, c.compileAll(node.Arguments)...)
}

// optional returns an argument that may be left out.
func optional[T any](args []any, i int, otherwise T) T {
	if i < len(args) {
		return args[i].(T)
	}
	return otherwise
}
