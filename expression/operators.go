package expression

import (
	"errors"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// errOperands means that an operator does not support the types of its operands.
var errOperands = errors.New("wrong types")

// operate is the implementation of an operator.
type operate func(f *frame, a, b any) (any, error)

// operators has the operators that always evaluate both operands: all but and, or and ??.
var operators = map[string]struct {
	needs string
	run   operate
}{
	"+":          {"two numbers, two texts, or times and durations", add},
	"-":          {"two numbers, or times and durations", subtract},
	"*":          {"two numbers", multiply},
	"/":          {"two numbers", divide},
	"%":          {"two whole numbers", modulo},
	"**":         {"two numbers", power},
	"^":          {"two numbers", power},
	"..":         {"two whole numbers", sequence},
	"==":         {"two values", equal},
	"!=":         {"two values", unequal},
	"<":          {"two numbers, texts, times or durations", ordered(func(order int) bool { return order < 0 })},
	"<=":         {"two numbers, texts, times or durations", ordered(func(order int) bool { return order <= 0 })},
	">":          {"two numbers, texts, times or durations", ordered(func(order int) bool { return order > 0 })},
	">=":         {"two numbers, texts, times or durations", ordered(func(order int) bool { return order >= 0 })},
	"in":         {"a value and a list, or text and an object", in},
	"contains":   {"two texts", texts(strings.Contains)},
	"startsWith": {"two texts", texts(strings.HasPrefix)},
	"endsWith":   {"two texts", texts(strings.HasSuffix)},
}

func (c *compiler) binary(node *ast.BinaryNode) (eval, error) {
	if node.Operator == "matches" {
		return c.matches(node)
	}
	left, err := c.compile(node.Left)
	if err != nil {
		return nil, err
	}
	right, err := c.compile(node.Right)
	if err != nil {
		return nil, err
	}
	switch node.Operator {
	case "and", "&&":
		return shortCircuit(node, left, right, false), nil
	case "or", "||":
		return shortCircuit(node, left, right, true), nil
	case "??":
		return func(f *frame) (any, error) {
			if v, err := left(f); v != nil || err != nil {
				return v, err
			}
			return right(f)
		}, nil
	}
	operator, ok := operators[node.Operator]
	if !ok {
		return nil, c.errorAt(node, "There is no operator %s.", node.Operator)
	}
	return func(f *frame) (any, error) {
		a, err := left(f)
		if err != nil {
			return nil, err
		}
		b, err := right(f)
		if err != nil {
			return nil, err
		}
		v, err := operator.run(f, a, b)
		if err == errOperands { //nolint:errorlint // ours, never wrapped
			return nil, fail("%s needs %s, not %s and %s", node.Operator, operator.needs, describe(a), describe(b))
		}
		return v, err
	}, nil
}

// shortCircuit compiles and, where false is decisive, or or, where true is.
func shortCircuit(node *ast.BinaryNode, left, right eval, decisive bool) eval {
	return func(f *frame) (any, error) {
		v, err := truth(f, left, node.Left)
		if v == decisive || err != nil {
			return v, err
		}
		return truth(f, right, node.Right)
	}
}

// truth runs a part that must be true or false.
func truth(f *frame, run eval, node ast.Node) (bool, error) {
	v, err := run(f)
	if err != nil {
		return false, err
	}
	b, ok := v.(bool)
	if !ok {
		return false, fail("%s is %s, not true or false", label(node), describe(v))
	}
	return b, nil
}

// matches needs a literal pattern: no payload may choose one.
func (c *compiler) matches(node *ast.BinaryNode) (eval, error) {
	literal, ok := node.Right.(*ast.StringNode)
	if !ok {
		return nil, c.errorAt(node, "matches needs its pattern as a text in quotes; to look for a computed text use contains.")
	}
	if err := c.count(literal); err != nil {
		return nil, err
	}
	expression, size, err := pattern(literal.Value, maxPattern-c.patterns)
	if err != nil {
		return nil, c.errorAt(literal, "%s", err)
	}
	c.patterns += size
	left, err := c.compile(node.Left)
	if err != nil {
		return nil, err
	}
	match := matches(expression, size)
	return func(f *frame) (any, error) {
		v, err := left(f)
		if err != nil {
			return nil, err
		}
		return match(f, v)
	}, nil
}

func (c *compiler) unary(node *ast.UnaryNode) (eval, error) {
	operand, err := c.compile(node.Node)
	if err != nil {
		return nil, err
	}
	if node.Operator == "not" || node.Operator == "!" {
		return func(f *frame) (any, error) {
			v, err := truth(f, operand, node.Node)
			return !v, err
		}, nil
	}
	return func(f *frame) (any, error) {
		v, err := operand(f)
		if err != nil {
			return nil, err
		}
		if node.Operator == "-" {
			return negate(v)
		}
		if _, ok := float(v); !ok {
			return nil, fail("+ needs a number, not %s", describe(v))
		}
		return v, nil
	}, nil
}
