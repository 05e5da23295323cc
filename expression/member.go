package expression

import (
	"errors"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
)

// errNothing ends an optional chain such as body?.a.b early.
var errNothing = errors.New("nothing there")

func (c *compiler) chain(node *ast.ChainNode) (eval, error) {
	inner, err := c.compile(node.Node)
	if err != nil {
		return nil, err
	}
	return func(f *frame) (any, error) {
		v, err := inner(f)
		if err == errNothing { //nolint:errorlint // ours, never wrapped
			return nil, nil
		}
		return v, err
	}, nil
}

func (c *compiler) member(node *ast.MemberNode) (eval, error) {
	if name := dotted(node, mostDots); c.language.isFunction(name) {
		return nil, c.errorAt(node, "%s is a function: call it with (…).", name)
	}
	if name := path(node, 0); name != "" {
		c.reads = append(c.reads, name)
	}
	owner, err := c.compile(node.Node)
	if err != nil {
		return nil, err
	}
	property, err := c.compile(node.Property)
	if err != nil {
		return nil, err
	}
	if key, ok := node.Property.(*ast.StringNode); ok {
		return func(f *frame) (any, error) {
			v, err := owner(f)
			if err != nil {
				return nil, err
			}
			if object, ok := v.(map[string]any); ok {
				return object[key.Value], nil
			}
			return fetch(f, node, v, key.Value)
		}, nil
	}
	return func(f *frame) (any, error) {
		v, err := owner(f)
		if err != nil {
			return nil, err
		}
		if v == nil && node.Optional {
			return nil, errNothing
		}
		key, err := property(f)
		if err != nil {
			return nil, err
		}
		return fetch(f, node, v, key)
	}, nil
}

// fetch returns a member of an object, an item of a list or a character of a text. A
// missing member is null.
func fetch(f *frame, node *ast.MemberNode, owner, key any) (any, error) {
	switch owner := owner.(type) {
	case map[string]any:
		if key, ok := key.(string); ok {
			return owner[key], nil
		}
		return nil, fail("%s is an object, whose members have texts as names, not %s", label(node.Node), describe(key))
	case []any:
		i, ok := whole(key)
		if !ok {
			return nil, fail("%s is a list, whose items have numbers, not %s", label(node.Node), describe(key))
		}
		if i, ok = placeOf(i, len(owner)); !ok {
			return nil, fail("%s has %d items and none at that place", label(node.Node), len(owner))
		}
		return owner[i], nil
	case string:
		i, ok := whole(key)
		if !ok {
			break
		}
		length, err := characters(f, owner)
		if err != nil {
			return nil, err
		}
		if i, ok = placeOf(i, length); !ok {
			return nil, fail("%s has %d characters and none at that place", label(node.Node), length)
		}
		return part(owner, i, i+1), nil
	}
	switch {
	case node.Optional:
		return nil, errNothing
	case owner == nil:
		return nil, fail("%s is null", label(node.Node))
	}
	return nil, fail("%s is %s and has no members", label(node.Node), describe(owner))
}

// placeOf returns the place that an index means; a negative one counts from the end.
func placeOf(index, length int) (int, bool) {
	if index < 0 {
		index += length
	}
	return index, index >= 0 && index < length
}

// characters counts the characters of a text and pays for cutting it.
func characters(f *frame, text string) (int, error) {
	return utf8.RuneCountInString(text), f.read(2 * len(text))
}

// part cuts a text at characters, never within one.
func part(text string, from, to int) string {
	start, end, count := len(text), len(text), 0
	for i := range text {
		if count == from {
			start = i
		}
		if count == to {
			end = i
			break
		}
		count++
	}
	return text[start:end]
}

func (c *compiler) slice(node *ast.SliceNode) (eval, error) {
	owner, err := c.compile(node.Node)
	if err != nil {
		return nil, err
	}
	from, err := c.bound(node.From)
	if err != nil {
		return nil, err
	}
	to, err := c.bound(node.To)
	if err != nil {
		return nil, err
	}
	return func(f *frame) (any, error) {
		v, err := owner(f)
		if err != nil {
			return nil, err
		}
		switch v := v.(type) {
		case []any:
			start, end, err := bounds(f, from, to, len(v))
			if err != nil {
				return nil, err
			}
			return v[start:end:end], nil
		case string:
			length, err := characters(f, v)
			if err != nil {
				return nil, err
			}
			start, end, err := bounds(f, from, to, length)
			if err != nil {
				return nil, err
			}
			return part(v, start, end), nil
		}
		return nil, fail("[:] needs a list or text; %s is %s", label(node.Node), describe(v))
	}, nil
}

// bound compiles one end of a slice, which may be left out.
func (c *compiler) bound(node ast.Node) (eval, error) {
	if node == nil {
		return nil, nil
	}
	return c.compile(node)
}

// bounds returns the ends of a slice within the length. Negative ones count from the end.
func bounds(f *frame, from, to eval, length int) (start, end int, err error) {
	start, err = indexOr(f, from, 0, length)
	if err != nil {
		return 0, 0, err
	}
	end, err = indexOr(f, to, length, length)
	return min(start, end), end, err
}

func indexOr(f *frame, run eval, otherwise, length int) (int, error) {
	if run == nil {
		return otherwise, nil
	}
	v, err := run(f)
	if err != nil {
		return 0, err
	}
	i, ok := whole(v)
	if !ok {
		return 0, fail("[:] needs whole numbers, not %s", describe(v))
	}
	if i < 0 {
		i += length
	}
	return min(max(i, 0), length), nil
}
