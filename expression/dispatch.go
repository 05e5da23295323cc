package expression

import "github.com/expr-lang/expr/ast"

func (c *compiler) dispatch(node ast.Node) eval {
	switch node := node.(type) {
	case *ast.NilNode:
		return constant(nil)
	case *ast.IntegerNode:
		return constant(node.Value)
	case *ast.FloatNode:
		return constant(node.Value)
	case *ast.BoolNode:
		return constant(node.Value)
	case *ast.StringNode:
		return constant(node.Value)
	case *ast.IdentifierNode:
		return c.identifier(node)
	case *ast.PointerNode:
		return c.pointer(node)
	case *ast.MemberNode:
		return c.member(node)
	case *ast.ChainNode:
		return c.chain(node)
	case *ast.SliceNode:
		return c.slice(node)
	case *ast.UnaryNode:
		return c.unary(node)
	case *ast.BinaryNode:
		if node.Operator == "matches" {
			return c.matches(node)
		}
		return c.binary(node)
	case *ast.CallNode:
		return c.call(node)
	case *ast.BuiltinNode:
		return c.builtin(node)
	case *ast.ConditionalNode:
		return c.conditional(node)
	case *ast.VariableDeclaratorNode:
		return c.let(node)
	case *ast.SequenceNode:
		return c.statements(node)
	case *ast.ArrayNode:
		return c.listLiteral(node)
	case *ast.MapNode:
		return c.objectLiteral(node)
	case *ast.BytesNode:
		return c.mistake(node, "There are no byte strings here; leave out the b before the quote.")
	}
	return c.mistake(node, "The expression has a part that is not known here.")
}
