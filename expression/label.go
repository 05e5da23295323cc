package expression

import "github.com/expr-lang/expr/ast"

// label names a part of an expression in messages, such as body.order.items[0].
func label(node ast.Node) string {
	if name := path(node, 0); name != "" && len(name) <= longestSnippet {
		return name
	}
	return "a part of it"
}

func path(node ast.Node, depth int) string {
	if depth > 10 {
		return ""
	}
	switch node := node.(type) {
	case *ast.IdentifierNode:
		return node.Value
	case *ast.PointerNode:
		return "#" + node.Name
	case *ast.ChainNode:
		return path(node.Node, depth+1)
	case *ast.MemberNode:
		owner := path(node.Node, depth+1)
		if owner == "" {
			return ""
		}
		switch property := node.Property.(type) {
		case *ast.StringNode:
			return owner + "." + property.Value
		case *ast.IntegerNode:
			return owner + "[" + property.String() + "]"
		}
	}
	return ""
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
