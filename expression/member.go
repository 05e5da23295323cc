package expression

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
)

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
		c.Reads = append(c.Reads, name)
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
		if !node.Optional && strings.HasPrefix(owner, "{") {
			fail("%s is text and has no members; if it is JSON, convert.fromJson reads it", label(node.Node))
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

func (c *compiler) slice(node *ast.SliceNode) eval {
	owner, from, to := c.compile(node.Node), c.bound(node.From, 0), c.bound(node.To, math.MaxInt)
	return func(f *frame) any {
		switch v := owner(f).(type) {
		case nothing:
			return v
		case []any:
			start, end := bounds(from(f), to(f), len(v))
			return v[start:end:end]
		case string:
			start, end := bounds(from(f), to(f), characters(f, v))
			return part(v, start, end)
		default:
			return fail("[:] needs a list or text; %s is %s", label(node.Node), describe(v))
		}
	}
}

// bound compiles one end of a slice, which may be left out.
func (c *compiler) bound(node ast.Node, otherwise int) eval {
	if node == nil {
		return constant(otherwise)
	}
	return c.compile(node)
}

// bounds returns the ends of a slice within the length.
func bounds(from, to any, length int) (start, end int) {
	start, end = bounded(from, length), bounded(to, length)
	return min(start, end), end
}

// bounded returns an index within the length; a negative one counts from the end.
func bounded(index any, length int) int {
	i, ok := whole(index)
	if !ok {
		fail("[:] needs whole numbers, not %s", describe(index))
	}
	if i < 0 {
		i += length
	}
	return min(max(i, 0), length)
}

// placeOf returns the place that an index means; a negative one counts from the end.
func placeOf(index, length int) (int, bool) {
	if index < 0 {
		index += length
	}
	return index, index >= 0 && index < length
}

// characters counts the characters of a text and pays for cutting it.
func characters(f *frame, text string) int {
	f.read(2 * len(text))
	return utf8.RuneCountInString(text)
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
