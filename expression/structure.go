package expression

import "github.com/expr-lang/expr/ast"

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
