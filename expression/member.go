package expression

import "github.com/expr-lang/expr/ast"

func (c *compiler) chain(node *ast.ChainNode) eval {
	inner := c.compile(node.Node)
	return func(f *frame) any {
		v := inner(f)
		if v == (nothing{}) {
			return nil
		}
		return v
	}
}

func (c *compiler) member(node *ast.MemberNode) eval {
	if name := dotted(node, mostDots); c.language.isFunction(name) {
		return c.mistake(node, "%s is a function: call it with (…).", name)
	}
	if name := path(node, 0); name != "" {
		c.reads = append(c.reads, name)
	}
	owner, property := c.compile(node.Node), c.compile(node.Property)
	return func(f *frame) any {
		v := owner(f)
		if v == nil && node.Optional || v == (nothing{}) {
			return nothing{}
		}
		return fetch(f, node, v, property(f))
	}
}

// fetch returns a member of an object, an item of a list or a character of a text. A
// missing member is null.
func fetch(f *frame, node *ast.MemberNode, owner, key any) any {
	switch owner := owner.(type) {
	case map[string]any:
		name, ok := key.(string)
		if !ok {
			fail("%s is an object, whose members have texts as names, not %s", label(node.Node), describe(key))
		}
		return owner[name]
	case []any:
		i, ok := whole(key)
		if !ok {
			fail("%s is a list, whose items have numbers, not %s", label(node.Node), describe(key))
		}
		if i, ok = placeOf(i, len(owner)); !ok {
			fail("%s has %d items and none at that place", label(node.Node), len(owner))
		}
		return owner[i]
	case string:
		if i, ok := whole(key); ok {
			return characterAt(f, node, owner, i)
		}
	}
	switch {
	case node.Optional:
		return nothing{}
	case owner == nil:
		return fail("%s is null", label(node.Node))
	}
	return fail("%s is %s and has no members", label(node.Node), describe(owner))
}

func characterAt(f *frame, node *ast.MemberNode, text string, index int) any {
	length := characters(f, text)
	i, ok := placeOf(index, length)
	if !ok {
		fail("%s has %d characters and none at that place", label(node.Node), length)
	}
	return part(text, i, i+1)
}
