package expression

import (
	"fmt"
	"slices"
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
	*Uses
	language   *Language
	varies     bool  // the expression does
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

// compile turns code of a template into a program. Offsets in its errors count from the start of the
// code.
func (l *Language) compile(t *Template, source string) (*program, error) {
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
	c := &compiler{program: &program{source: source}, Uses: &t.Uses, language: l}
	if c.run = c.compile(tree); !c.varies {
		c.trials = append(c.trials, c.run)
	}
	t.Varies, t.slots = t.Varies || c.varies, max(t.slots, c.slots)
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
	return c.mistake(node, "There is no function %s; %s", name, spelling.Hint(name, c.language.callable,
		"there are those of expr-lang, secret, convert.* and crypto.*."))
}

func (c *compiler) dispatch(node ast.Node) eval {
	switch node := node.(type) {
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
	}
	return c.literal(node)
}

// literal compiles a value that is written out.
func (c *compiler) literal(node ast.Node) eval {
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
	case *ast.BytesNode:
		return c.mistake(node, "There are no byte strings here; leave out the b before the quote.")
	}
	return c.mistake(node, "The expression has a part that is not known here.")
}

// statements compiles parts with ; between them: the last one is the value.
func (c *compiler) statements(node *ast.SequenceNode) eval {
	return strict(func(_ *frame, args []any) any { return args[len(args)-1] }, c.compileAll(node.Nodes)...)
}

func (c *compiler) listLiteral(node *ast.ArrayNode) eval {
	return strict(func(f *frame, items []any) any {
		f.makeItems(len(items))
		return append([]any{}, items...)
	}, c.compileAll(node.Nodes)...)
}

func (c *compiler) objectLiteral(node *ast.MapNode) eval {
	parts := make([]eval, 0, 2*len(node.Pairs))
	for _, pair := range node.Pairs {
		pair, ok := pair.(*ast.PairNode)
		if !ok {
			return c.mistake(node, "The object can't be read.")
		}
		parts = append(parts, c.compile(pair.Key), c.compile(pair.Value))
	}
	return strict(func(f *frame, parts []any) any {
		f.makeObject(len(parts) / 2)
		object := make(map[string]any, len(parts)/2)
		for pair := range slices.Chunk(parts, 2) {
			name, ok := pair[0].(string)
			if !ok {
				fail("the names in an object are texts, not %s", describe(pair[0]))
			}
			object[name] = pair[1]
		}
		return object
	}, parts...)
}
