package expression

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// matches needs a literal pattern: no payload may choose one.
func (c *compiler) matches(node *ast.BinaryNode) eval {
	literal, ok := node.Right.(*ast.StringNode)
	if !ok {
		return c.mistake(node,
			"matches needs its pattern as a text in quotes; to look for a computed text use contains.")
	}
	if c.countNode(literal); c.err != nil {
		return nil
	}
	pattern, size, wrong := c.pattern(literal.Value)
	if wrong != "" {
		return c.mistake(literal, "%s", wrong)
	}
	c.patterns += size
	left := c.compile(node.Left)
	return func(f *frame) any {
		switch v := left(f).(type) {
		case nil:
			return false
		case string:
			const partsPerStep = 8
			f.spend(len(v) * size / partsPerStep) // the worst case: every byte against every part
			return pattern.MatchString(v)
		default:
			return fail("matches needs text, not %s", describe(v))
		}
	}
}

// pattern compiles a regular expression that is small enough for long texts, or says what
// is wrong with it.
func (c *compiler) pattern(source string) (pattern *regexp.Regexp, size int, wrong string) {
	const longest = 1_000
	if len(source) > longest {
		return nil, 0, fmt.Sprintf("The pattern is longer than %d bytes.", longest)
	}
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		what := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		return nil, 0, "The pattern is not a regular expression: " + what + "."
	}
	size = patternSize(tree)
	if left := maxPattern - c.patterns; size > left {
		return nil, 0, fmt.Sprintf("The pattern is too large: with its repetitions written out it has %d parts, "+
			"and %d are left for this expression.", size, left)
	}
	return regexp.MustCompile(source), size, ""
}

// patternSize counts the parts of a pattern with its repetitions written out.
func patternSize(tree *syntax.Regexp) int {
	size := 0
	for _, sub := range tree.Sub {
		size += patternSize(sub)
	}
	switch tree.Op {
	case syntax.OpLiteral:
		return len(tree.Rune)
	case syntax.OpCharClass:
		const rangesPerPart = 8 // each has two runes
		return 1 + len(tree.Rune)/(2*rangesPerPart)
	case syntax.OpRepeat:
		size *= max(tree.Min, tree.Max, 1)
	}
	return size + 1
}
