package expression

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"sluice/spelling"
)

func (c *compiler) conditional(node *ast.ConditionalNode) (eval, error) {
	runs, err := c.compileAll([]ast.Node{node.Cond, node.Exp1, node.Exp2})
	if err != nil {
		return nil, err
	}
	condition, then, otherwise := runs[0], runs[1], runs[2]
	return func(f *frame) (any, error) {
		yes, err := truth(f, condition, node.Cond)
		if err != nil {
			return nil, err
		}
		if yes {
			return then(f)
		}
		return otherwise(f)
	}, nil
}

func (c *compiler) sequence(node *ast.SequenceNode) (eval, error) {
	runs, err := c.compileAll(node.Nodes)
	if err != nil {
		return nil, err
	}
	return func(f *frame) (v any, err error) {
		for _, run := range runs {
			if v, err = run(f); err != nil {
				return nil, err
			}
		}
		return v, nil
	}, nil
}

func (c *compiler) array(node *ast.ArrayNode) (eval, error) {
	runs, err := c.compileAll(node.Nodes)
	if err != nil {
		return nil, err
	}
	return func(f *frame) (any, error) {
		if err := f.makeItems(len(runs)); err != nil {
			return nil, err
		}
		list := make([]any, len(runs))
		for i, run := range runs {
			var err error
			if list[i], err = run(f); err != nil {
				return nil, err
			}
		}
		return list, nil
	}, nil
}

func (c *compiler) object(node *ast.MapNode) (eval, error) {
	keys, values := make([]eval, len(node.Pairs)), make([]eval, len(node.Pairs))
	for i, pair := range node.Pairs {
		pair, ok := pair.(*ast.PairNode)
		if !ok {
			return nil, c.errorAt(node, "The object can't be read.")
		}
		runs, err := c.compileAll([]ast.Node{pair.Key, pair.Value})
		if err != nil {
			return nil, err
		}
		keys[i], values[i] = runs[0], runs[1]
	}
	return func(f *frame) (any, error) {
		if err := f.makeObject(len(keys)); err != nil {
			return nil, err
		}
		object := make(map[string]any, len(keys))
		for i := range keys {
			key, err := keys[i](f)
			if err != nil {
				return nil, err
			}
			name, ok := key.(string)
			if !ok {
				return nil, fail("the names in an object are texts, not %s", describe(key))
			}
			if object[name], err = values[i](f); err != nil {
				return nil, err
			}
		}
		return object, nil
	}, nil
}

// objects has the objects that every expression sees.
var objects = map[string]func(*Scope) any{
	"body":    func(s *Scope) any { return s.Body },
	"vars":    func(s *Scope) any { return orEmpty(s.Vars) },
	"headers": func(s *Scope) any { return orEmpty(s.Headers) },
	"request": func(s *Scope) any { return orEmpty(s.Request) },
	"user":    func(s *Scope) any { return orEmpty(s.User) },
}

func orEmpty(object map[string]any) map[string]any {
	if object == nil {
		return map[string]any{}
	}
	return object
}

func (c *compiler) identifier(node *ast.IdentifierNode) (eval, error) {
	for _, v := range slices.Backward(c.variables) {
		if v.name == node.Value {
			return func(f *frame) (any, error) { return f.variables[v.slot], nil }, nil
		}
	}
	if get, ok := objects[node.Value]; ok {
		c.varies = true
		return func(f *frame) (any, error) { return get(f.scope), nil }, nil
	}
	if c.language.isFunction(node.Value) {
		return nil, c.errorAt(node, "%s is a function: call it with (…).", node.Value)
	}
	for _, name := range c.language.names {
		if strings.HasPrefix(name, node.Value+".") {
			return nil, c.errorAt(node, "%s holds functions such as %s: call one with (…).", node.Value, name)
		}
	}
	if node.Value == "null" { // as in JSON; the language itself has nil
		return func(*frame) (any, error) { return nil, nil }, nil
	}
	names := []string{"body", "headers", "request", "user", "vars", "null", "true", "false"}
	for _, v := range c.variables {
		names = append(names, v.name)
	}
	if near := spelling.Nearest(node.Value, names); near != "" {
		return nil, c.errorAt(node, "There is no %s; did you mean %s?", node.Value, near)
	}
	return nil, c.errorAt(node, "There is no %s; there are body, headers, request, user and vars.", node.Value)
}

// pointer compiles #, #index or #acc.
func (c *compiler) pointer(node *ast.PointerNode) (eval, error) {
	if len(c.predicates) == 0 {
		return nil, c.errorAt(node, "# stands for an item only within a function such as filter.")
	}
	switch node.Name {
	case "":
		return func(f *frame) (any, error) { return f.item, nil }, nil
	case "index":
		return func(f *frame) (any, error) { return f.index, nil }, nil
	case "acc":
		if c.predicates[len(c.predicates)-1] == "reduce" {
			return func(f *frame) (any, error) { return f.acc, nil }, nil
		}
		return nil, c.errorAt(node, "#acc is there within reduce only.")
	}
	return nil, c.errorAt(node, "There is no #%s; there are #, #index and #acc.", node.Name)
}

// let compiles a name for a value, valid in the rest of the expression.
func (c *compiler) let(node *ast.VariableDeclaratorNode) (eval, error) {
	taken := slices.ContainsFunc(c.variables, func(v variable) bool { return v.name == node.Name })
	if _, ok := objects[node.Name]; ok || taken || c.language.isTaken(node.Name) {
		return nil, c.errorAt(node, "The name %s is taken; choose another one.", node.Name)
	}
	value, err := c.compile(node.Value)
	if err != nil {
		return nil, err
	}
	slot := c.slots
	c.slots++
	c.variables = append(c.variables, variable{node.Name, slot})
	rest, err := c.compile(node.Expr)
	c.variables = c.variables[:len(c.variables)-1]
	if err != nil {
		return nil, err
	}
	return func(f *frame) (any, error) {
		v, err := value(f)
		if err != nil {
			return nil, err
		}
		f.variables[slot] = v
		return rest(f)
	}, nil
}

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
