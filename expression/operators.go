package expression

import (
	"strings"

	"github.com/expr-lang/expr/ast"
)

// operators has the operators that always evaluate both operands: all but and, or and ??.
var operators = map[string]struct {
	needs string
	run   operate
}{
	"+":          {"two numbers, two texts (string(x) makes one), or times and durations", add},
	"-":          {"two numbers, or times and durations", subtract},
	"*":          {"two numbers", multiply},
	"/":          {"two numbers", divide},
	"%":          {"two whole numbers", modulo},
	"**":         {"two numbers", power},
	"^":          {"two numbers", power},
	"..":         {"two whole numbers", sequence},
	"==":         {"two values", equal},
	"!=":         {"two values", unequal},
	"<":          {orderable, ordered(func(order int) bool { return order < 0 })},
	"<=":         {orderable, ordered(func(order int) bool { return order <= 0 })},
	">":          {orderable, ordered(func(order int) bool { return order > 0 })},
	">=":         {orderable, ordered(func(order int) bool { return order >= 0 })},
	"in":         {"a value and a list, or text and an object", isIn},
	"contains":   {"two texts", testTexts(strings.Contains)},
	"startsWith": {"two texts", testTexts(strings.HasPrefix)},
	"endsWith":   {"two texts", testTexts(strings.HasSuffix)},
}

const orderable = "two numbers, texts, times or durations"

func (c *compiler) binary(node *ast.BinaryNode) eval {
	if node.Operator == "matches" {
		return c.matches(node)
	}
	left, right := c.compile(node.Left), c.compile(node.Right)
	switch node.Operator {
	case "and", "&&":
		return shortCircuit(node, left, right, false)
	case "or", "||":
		return shortCircuit(node, left, right, true)
	case "??":
		return func(f *frame) any {
			if v := left(f); v != nil {
				return v
			}
			return right(f)
		}
	}
	operator, ok := operators[node.Operator]
	if !ok {
		return c.mistake(node, "There is no operator %s.", node.Operator)
	}
	run := func(left, right eval) eval {
		return func(f *frame) any {
			a, b := left(f), right(f)
			v, ok := operator.run(f, a, b)
			if !ok {
				fail("%s needs %s, not %s and %s", node.Operator, operator.needs, describe(a), describe(b))
			}
			return v
		}
	}
	if a, b := sample(node.Left), sample(node.Right); a != nil && b != nil {
		c.trials = append(c.trials, run(constant(a), constant(b)))
	}
	return run(left, right)
}

// samples are values of the types that functions always give.
var samples = map[string]any{
	"len": 1, "count": 1, "int": 1,
	"string": "a", "upper": "a", "lower": "a", "join": "a",
}

// sample returns a value of the type that a part always has, nil if that is unknown.
func sample(node ast.Node) any {
	switch node := node.(type) {
	case *ast.IntegerNode:
		return node.Value
	case *ast.StringNode:
		return node.Value
	case *ast.BuiltinNode:
		return samples[node.Name]
	}
	return nil
}

// shortCircuit compiles and, where false is decisive, or or, where true is.
func shortCircuit(node *ast.BinaryNode, left, right eval, decisive bool) eval {
	return func(f *frame) any {
		if truth(f, left, node.Left) == decisive {
			return decisive
		}
		return truth(f, right, node.Right)
	}
}

// truth runs a part that must be true or false.
func truth(f *frame, run eval, node ast.Node) bool {
	v := run(f)
	yes, ok := v.(bool)
	if !ok {
		fail("%s is %s, not true or false", label(node), describe(v))
	}
	return yes
}

func (c *compiler) unary(node *ast.UnaryNode) eval {
	operand := c.compile(node.Node)
	switch node.Operator {
	case "not", "!":
		return func(f *frame) any { return !truth(f, operand, node.Node) }
	case "-":
		return func(f *frame) any { return negate(operand(f)) }
	}
	return func(f *frame) any {
		v := operand(f)
		if _, ok := float(v); !ok {
			fail("+ needs a number, not %s", describe(v))
		}
		return v
	}
}

func (c *compiler) conditional(node *ast.ConditionalNode) eval {
	condition, then, otherwise := c.compile(node.Cond), c.compile(node.Exp1), c.compile(node.Exp2)
	return func(f *frame) any {
		if truth(f, condition, node.Cond) {
			return then(f)
		}
		return otherwise(f)
	}
}
