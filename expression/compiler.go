package expression

import (
	"fmt"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/parser"

	"sluice/spelling"
)

// compiler compiles one expression. The tree may have a node in two places, such as b in
// a < b < c. Nodes are counted each time, since nesting such places doubles the work at
// each level.
type compiler struct {
	*program
	language   *Language
	err        error // the first mistake; after it, nothing more is compiled
	nodes      int
	patterns   int // parts of all patterns
	depth      int
	variables  []variable
	predicates []string // names of the functions around the current predicate
}

// variable is a name that let gives to a value.
type variable struct {
	name string
	slot int
}

// compile turns code into a program. Offsets in its errors count from the start of the
// code.
func (l *Language) compile(source string) (*program, error) {
	if len(source) > MaxSource {
		return nil, &SyntaxError{Message: fmt.Sprintf(
			"The expression has %d bytes, at most %d are allowed; do it in several steps.", len(source), MaxSource)}
	}
	if !utf8.ValidString(source) {
		return nil, &SyntaxError{Message: "The expression is not UTF-8."}
	}
	tree, err := parse(source)
	if err != nil {
		return nil, err
	}
	c := &compiler{program: &program{source: source}, language: l}
	c.run = c.compile(tree)
	return c.program, c.err
}

// parse reads the code with expr-lang's parser. Code that makes the parser panic is a
// mistake as well.
func parse(source string) (tree ast.Node, err error) {
	defer func() {
		if recover() != nil {
			tree, err = nil, unreadable()
		}
	}()
	config := conf.CreateNew()
	config.MaxNodes = MaxNodes
	parsed, err := parser.ParseWithConfig(source, config)
	if err != nil {
		return nil, parseError(source, err)
	}
	if parsed.Node == nil {
		return nil, unreadable()
	}
	return parsed.Node, nil
}

func (c *compiler) countNode(node ast.Node) {
	c.nodes++
	if c.nodes > MaxNodes {
		c.mistake(node, "The expression has more than %d parts; do it in several steps.", MaxNodes)
	}
}

// compile returns nil after a mistake.
func (c *compiler) compile(node ast.Node) eval {
	c.countNode(node)
	c.depth++
	defer func() { c.depth-- }()
	if c.depth > MaxNested {
		c.mistake(node, "The expression is nested more than %d deep.", MaxNested)
	}
	if c.err != nil {
		return nil
	}
	return c.dispatch(node)
}

func (c *compiler) compileAll(nodes []ast.Node) []eval {
	runs := make([]eval, len(nodes))
	for i, node := range nodes {
		runs[i] = c.compile(node)
	}
	return runs
}

// mistake keeps the first mistake in the expression. What it returns never runs.
func (c *compiler) mistake(node ast.Node, format string, args ...any) eval {
	if c.err == nil {
		c.err = &SyntaxError{
			Offset:  byteOffset(c.source, node.Location()),
			Message: oneLine(fmt.Sprintf(format, args...), longestMessage),
		}
	}
	return nil
}

func (c *compiler) noFunction(node ast.Node, name string) eval {
	if name == "" {
		return c.mistake(node, "Only functions can be called, by their names.")
	}
	hint := "there are those of expr-lang, secret, convert.* and crypto.*."
	if near := spelling.Nearest(name, c.language.callable); near != "" {
		hint = "did you mean " + near + "?"
	}
	return c.mistake(node, "There is no function %s; %s", name, hint)
}
