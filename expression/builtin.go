package expression

import (
	"cmp"
	"maps"

	"github.com/expr-lang/expr/ast"
)

// kind is the type of value that a built-in function needs as an argument.
type kind int

const (
	anyKind kind = iota
	textKind
	listKind
	objectKind
	integerKind // a number without a fraction, handed over as an int
	numberKind  // an int or a float64
)

var kindNames = map[kind]string{
	textKind: "text", listKind: "a list", objectKind: "an object",
	integerKind: "a whole number", numberKind: "a number",
}

var (
	oneAny      = []kind{anyKind}
	oneText     = []kind{textKind}
	twoTexts    = []kind{textKind, textKind}
	threeTexts  = []kind{textKind, textKind, textKind}
	oneList     = []kind{listKind}
	oneObject   = []kind{objectKind}
	oneNumber   = []kind{numberKind}
	twoIntegers = []kind{integerKind, integerKind}
)

// function is a built-in function. Its arguments are checked before it runs.
type function struct {
	usage  string
	kinds  []kind // of its arguments
	needed int    // how many arguments are required; 0: all
	many   bool   // the last argument may be repeated
	run    operation
}

// builtins has the built-in functions without a predicate.
var builtins = merged(textFunctions, formatFunctions, listFunctions, objectFunctions, numberFunctions, timeFunctions)

// refused has the functions of expr-lang that are not available, with alternatives.
var refused = map[string]string{"timezone": "give date the name of the zone: date(text, layout, zone)"}

func merged(tables ...map[string]function) map[string]function {
	all := make(map[string]function)
	for _, table := range tables {
		maps.Copy(all, table)
	}
	return all
}

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
	needed := cmp.Or(fn.needed, len(fn.kinds))
	if n := len(node.Arguments); n < needed || n > len(fn.kinds) && !fn.many {
		return c.mistake(node, "%s got %d values; use %s.", node.Name, n, fn.usage)
	}
	return strict(func(f *frame, args []any) any {
		for i, arg := range args {
			needs := fn.kinds[min(i, len(fn.kinds)-1)]
			var ok bool
			if args[i], ok = fits(needs, arg); !ok {
				fail("%s needs %s, not %s", node.Name, kindNames[needs], describe(arg))
			}
		}
		return fn.run(f, args)
	}, c.compileAll(node.Arguments)...)
}

// fits reports whether a value is of a kind, and converts it to that kind.
func fits(needs kind, v any) (any, bool) {
	ok := true
	switch needs {
	case textKind:
		_, ok = v.(string)
	case listKind:
		_, ok = v.([]any)
	case objectKind:
		_, ok = v.(map[string]any)
	case integerKind:
		return whole(v)
	case numberKind:
		_, ok = float(v)
	}
	return v, ok
}

// optional returns an argument that may be left out.
func optional[T any](args []any, i int, otherwise T) T {
	if i < len(args) {
		return args[i].(T)
	}
	return otherwise
}
