package expression

import (
	"cmp"

	"github.com/expr-lang/expr/ast"
)

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

func (c *compiler) predicate(node *ast.BuiltinNode) eval {
	function := predicates[node.Name]
	operands := []eval{c.compile(node.Arguments[0])}
	start := c.nodes
	var body eval
	if len(node.Arguments) > 1 {
		predicate, ok := node.Arguments[1].(*ast.PredicateNode)
		if !ok {
			return c.mistake(node, "Use %s.", function.usage)
		}
		c.predicates = append(c.predicates, node.Name)
		body = c.compile(predicate.Node)
		c.predicates = c.predicates[:len(c.predicates)-1]
	}
	cost := 1 + c.nodes - start
	if len(node.Arguments) > 2 {
		operands = append(operands, c.compile(node.Arguments[2]))
	}
	return strict(func(f *frame, args []any) any {
		items, ok := args[0].([]any)
		if !ok {
			fail("%s needs a list; %s is %s", node.Name, label(node.Arguments[0]), describe(args[0]))
		}
		outer := f.cursor
		v := function.run(&loop{f, items, body, cost, args[1:], node.Name})
		f.cursor = outer
		return v
	}, operands...)
}
