package expression

import (
	"slices"

	"github.com/expr-lang/expr/ast"
)

// statements compiles parts with ; between them: the last one is the value.
func (c *compiler) statements(node *ast.SequenceNode) eval {
	return strict(func(_ *frame, args []any) any { return args[len(args)-1] }, c.compileAll(node.Nodes)...)
}

func (c *compiler) listLiteral(node *ast.ArrayNode) eval {
	return strict(func(f *frame, items []any) any {
		f.makeItems(len(items))
		return append([]any{}, items...)
	}, c.compileAll(node.Nodes)...)
}

func (c *compiler) objectLiteral(node *ast.MapNode) eval {
	parts := make([]eval, 0, 2*len(node.Pairs))
	for _, pair := range node.Pairs {
		pair, ok := pair.(*ast.PairNode)
		if !ok {
			return c.mistake(node, "The object can't be read.")
		}
		parts = append(parts, c.compile(pair.Key), c.compile(pair.Value))
	}
	return strict(func(f *frame, parts []any) any {
		f.makeObject(len(parts) / 2)
		object := make(map[string]any, len(parts)/2)
		for pair := range slices.Chunk(parts, 2) {
			name, ok := pair[0].(string)
			if !ok {
				fail("the names in an object are texts, not %s", describe(pair[0]))
			}
			object[name] = pair[1]
		}
		return object
	}, parts...)
}
