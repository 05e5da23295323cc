package expression

import (
	"strings"

	"github.com/expr-lang/expr/ast"

	"sluice/value"
)

// call compiles the call of a function that is not built in.
func (c *compiler) call(node *ast.CallNode) eval {
	name := dotted(node.Callee, mostDots)
	if name == "secret" {
		return c.secret(node)
	}
	function, ok := c.language.functions[name]
	if !ok {
		return c.noFunction(node, name)
	}
	return strict(func(f *frame, args []any) any {
		f.spend(stepsPerCall)
		values, long := make([]any, len(args)), false
		for i, arg := range args {
			values[i] = f.plain(arg)
			if text, ok := values[i].(string); ok {
				f.read(len(text))
			}
			expansion, isLong := Expansion(name, values[i])
			f.foresee(expansion)
			long = long || isLong
		}
		began, err := f.scope.Work.Begin(long)
		f.mayGoOn(err)
		v, err := function(values...)
		f.scope.Work.End(began)
		f.tell()
		if err != nil {
			check(&callError{name, err})
		}
		v, weight := f.weighed(v)
		f.makeText(weight.Size)
		f.allocate(max(0, weight.Memory-weight.Size))
		return v
	}, c.compileAll(node.Arguments)...)
}

// Expansion estimates the memory that a command or function needs to decode a text or to write a
// value, and whether it may compute for long. Small texts count as 0.
func Expansion(name string, arg any) (bytes int, long bool) {
	const few = 128 << 10 // bytes that take a millisecond or two
	bytes = footprint(name, arg)
	text, _ := arg.(string)
	return bytes, Computes(name) && (len(text)+bytes > few || name == "convert.fromGzip")
}

func footprint(name string, arg any) int {
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

// Computes reports whether a command or function computes and waits for nothing, but can't count its steps.
func Computes(name string) bool {
	return strings.HasPrefix(name, "convert.") || strings.HasPrefix(name, "crypto.")
}

// secret needs a literal name: no payload may choose a secret.
func (c *compiler) secret(node *ast.CallNode) eval {
	if c.language.early {
		return c.mistake(node, "There are no secrets yet: this is computed from body alone, before a run begins.")
	}
	if len(node.Arguments) != 1 {
		return c.mistake(node, "secret needs one name in quotes.")
	}
	literal, ok := node.Arguments[0].(*ast.StringNode)
	if !ok {
		return c.mistake(node, "secret needs its name in quotes, not computed.")
	}
	c.compile(literal)
	c.varies = true
	c.Secrets = append(c.Secrets, literal.Value)
	return func(f *frame) any {
		if f.scope.Secret == nil {
			fail("there are no secrets here")
		}
		f.spend(stepsPerCall)
		secret, err := f.scope.Secret(literal.Value)
		if err != nil {
			check(&callError{"secret", err})
		}
		f.makeText(len(secret))
		return secret
	}
}
