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
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"sluice"
	"sluice/spelling"
	"sluice/value"
)

// Function is a function that expressions can call. Package expression bounds its
// arguments and result; the function must bound its own work.
type Function = func(args ...any) (any, error)

// Language compiles expressions that may call its functions.
type Language struct {
	functions map[string]Function
	names     []string // of the functions, in order
	callable  []string // with the built-in ones, for hints
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
	l.callable = append(l.callable, "secret")
	l.callable = append(l.callable, l.names...)
	l.callable = append(l.callable, slices.Sorted(maps.Keys(builtins))...)
	l.callable = append(l.callable, slices.Sorted(maps.Keys(predicates))...)
	return l
}

// Functions describes the functions that every language has.
func Functions() []sluice.Word {
	usages := make([]string, 0, 1+len(builtins)+len(predicates))
	usages = append(usages, `secret("name"): the secret with that name`)
	for _, f := range builtins {
		usages = append(usages, f.usage)
	}
	for _, p := range predicates {
		usages = append(usages, p.usage)
	}
	slices.Sort(usages)
	words := make([]sluice.Word, len(usages))
	for i, usage := range usages {
		name, _, _ := strings.Cut(usage, "(")
		words[i] = sluice.Word{Name: name, Doc: usage}
	}
	return words
}

func (l *Language) isFunction(name string) bool { return slices.Contains(l.callable, name) }

// isTaken reports whether a name is a function or a group of functions.
func (l *Language) isTaken(name string) bool {
	return slices.ContainsFunc(l.callable, func(callable string) bool {
		return callable == name || strings.HasPrefix(callable, name+".")
	})
}

// dotted returns the name a.b.c that a node spells, or "". The name has at most so many
// dots.
func dotted(node ast.Node, dots int) string {
	switch node := node.(type) {
	case *ast.IdentifierNode:
		return node.Value
	case *ast.MemberNode:
		property, ok := node.Property.(*ast.StringNode)
		if !ok || dots == 0 {
			return ""
		}
		if owner := dotted(node.Node, dots-1); owner != "" {
			return owner + "." + property.Value
		}
	}
	return ""
}

// call compiles the call of a function that is not built in.
func (c *compiler) call(node *ast.CallNode) (eval, error) {
	name := dotted(node.Callee, mostDots)
	if name == "secret" {
		c.varies = true
		return c.secret(node)
	}
	function, ok := c.language.functions[name]
	if !ok {
		return nil, c.noFunction(node, name)
	}
	args, err := c.compileAll(node.Arguments)
	if err != nil {
		return nil, err
	}
	return func(f *frame) (any, error) {
		if err := f.spend(stepsPerCall); err != nil {
			return nil, err
		}
		values := make([]any, len(args))
		for i, arg := range args {
			v, err := arg(f)
			if err != nil {
				return nil, err
			}
			if values[i], err = f.plain(v); err != nil {
				return nil, err
			}
			if text, ok := values[i].(string); ok {
				if err := f.read(len(text)); err != nil {
					return nil, err
				}
			}
			if err := f.foresee(Expansion(name, values[i])); err != nil {
				return nil, err
			}
		}
		v, err := function(values...)
		if err != nil {
			return nil, &callError{name, err}
		}
		return f.received(v)
	}, nil
}

// received checks the result of a function and pays for it.
func (f *frame) received(v any) (any, error) {
	v, weight, err := f.weighed(v)
	if err != nil {
		return nil, err
	}
	if err := f.makeText(weight.Size); err != nil {
		return nil, err
	}
	return v, f.allocate(max(0, weight.Memory-weight.Size))
}

// Expansion estimates the memory that a command or function needs for a text that it
// decodes, or for a value that it writes. Small texts count as 0.
func Expansion(name string, arg any) int {
	const small, yamlNodes = 4 << 10, 4
	text, isText := arg.(string)
	switch {
	case isText && len(text) <= small || !strings.HasPrefix(name, "convert."):
		return 0
	case name == "convert.fromYaml" && isText:
		return value.YAMLFootprint(text)
	case isText:
		return value.Footprint(text)
	}
	var scale value.Scale
	_ = scale.Add(arg) // the command says what is wrong with it
	if name == "convert.toYaml" {
		return scale.Memory * yamlNodes
	}
	return scale.Memory
}

func (c *compiler) noFunction(node ast.Node, name string) error {
	if name == "" {
		return c.errorAt(node, "Only functions can be called, by their names.")
	}
	if near := spelling.Nearest(name, c.language.callable); near != "" {
		return c.errorAt(node, "There is no function %s; did you mean %s?", name, near)
	}
	return c.errorAt(node, "There is no function %s; there are those of expr-lang, secret, convert.* and crypto.*.", name)
}

// secret needs a literal name: no payload may choose a secret.
func (c *compiler) secret(node *ast.CallNode) (eval, error) {
	if len(node.Arguments) != 1 {
		return nil, c.errorAt(node, "secret needs one name in quotes.")
	}
	literal, ok := node.Arguments[0].(*ast.StringNode)
	if !ok {
		return nil, c.errorAt(node, "secret needs its name in quotes, not computed.")
	}
	if _, err := c.compile(literal); err != nil {
		return nil, err
	}
	c.secrets = append(c.secrets, literal.Value)
	return func(f *frame) (any, error) {
		if f.scope.Secret == nil {
			return nil, fail("there are no secrets here")
		}
		if err := f.spend(stepsPerCall); err != nil {
			return nil, err
		}
		value, err := f.scope.Secret(literal.Value)
		if err != nil {
			return nil, &callError{"secret", err}
		}
		return value, f.makeText(len(value))
	}, nil
}

// callError is the error of a function. Its text is shown only if it is an *sluice.Error.
type callError struct {
	function string
	err      error
}

func (e *callError) Error() string {
	if shown, ok := errors.AsType[*sluice.Error](e.err); ok {
		return e.function + ": " + shown.Message
	}
	return e.function + " failed"
}

func (e *callError) Unwrap() error { return e.err }
