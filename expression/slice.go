package expression

import (
	"math"

	"github.com/expr-lang/expr/ast"
)

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
