package expression

import (
	"fmt"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
)

// eval runs one part of an expression.
type eval func(f *frame) (any, error)

// compiler compiles one expression. The tree may have a node in two places, such as b in
// a < b < c. Nodes are counted each time, since nesting such places doubles the work at
// each level.
type compiler struct {
	language   *Language
	source     string
	nodes      int
	patterns   int // parts of all patterns
	depth      int
	slots      int
	variables  []variable
	predicates []string // names of the functions around the current predicate
	secrets    []string // names of the secrets it uses
	reads      []string // members that it reads by name
	varies     bool     // it reads the scope
}

type variable struct {
	name string
	slot int
}

// program is an expression, ready to run.
type program struct {
	source  string
	slots   int
	secrets []string // names of the secrets it uses
	reads   []string // members that it reads by name, such as body.payload.name
	varies  bool     // it reads the scope: its value is not the same in each run
	run     eval
}

// compile turns code into a program. Offsets in its errors count from the start of the
// code.
func (l *Language) compile(source string) (*program, error) {
	if len(source) > MaxSource {
		return nil, &SyntaxError{Message: fmt.Sprintf("The expression has %d bytes, at most %d are allowed; do it in several steps.", len(source), MaxSource)}
	}
	if !utf8.ValidString(source) {
		return nil, &SyntaxError{Message: "The expression is not UTF-8."}
	}
	tree, err := parse(source)
	if err != nil {
		return nil, err
	}
	c := &compiler{language: l, source: source}
	run, err := c.compile(tree)
	if err != nil {
		return nil, err
	}
	return &program{source: source, slots: c.slots, secrets: c.secrets, reads: c.reads, varies: c.varies, run: run}, nil
}

// parse reads the code with expr-lang's parser. Code that makes the parser panic is a
// mistake as well.
func parse(source string) (tree ast.Node, err error) {
	defer func() {
		if recover() != nil {
			tree, err = nil, &SyntaxError{Message: "The expression can't be read."}
		}
	}()
	config := conf.CreateNew()
	config.MaxNodes = MaxNodes
	parsed, err := parser.ParseWithConfig(source, config)
	if err != nil {
		return nil, parseError(source, err)
	}
	if parsed.Node == nil {
		return nil, &SyntaxError{Message: "The expression can't be read."}
	}
	return parsed.Node, nil
}

func (c *compiler) count(node ast.Node) error {
	c.nodes++
	if c.nodes > MaxNodes {
		return c.errorAt(node, "The expression has more than %d parts; do it in several steps.", MaxNodes)
	}
	return nil
}

func (c *compiler) compile(node ast.Node) (eval, error) {
	if err := c.count(node); err != nil {
		return nil, err
	}
	c.depth++
	defer func() { c.depth-- }()
	if c.depth > MaxNested {
		return nil, c.errorAt(node, "The expression is nested more than %d deep.", MaxNested)
	}
	return c.dispatch(node)
}

func (c *compiler) dispatch(node ast.Node) (eval, error) {
	switch node := node.(type) {
	case *ast.NilNode:
		return constant(nil), nil
	case *ast.IntegerNode:
		return constant(node.Value), nil
	case *ast.FloatNode:
		return constant(node.Value), nil
	case *ast.BoolNode:
		return constant(node.Value), nil
	case *ast.StringNode:
		return constant(node.Value), nil
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
		return c.sequence(node)
	case *ast.ArrayNode:
		return c.array(node)
	case *ast.MapNode:
		return c.object(node)
	case *ast.BytesNode:
		return nil, c.errorAt(node, "There are no byte strings here; leave out the b before the quote.")
	}
	return nil, c.errorAt(node, "The expression has a part that is not known here.")
}

func (c *compiler) compileAll(nodes []ast.Node) ([]eval, error) {
	runs := make([]eval, len(nodes))
	for i, node := range nodes {
		var err error
		if runs[i], err = c.compile(node); err != nil {
			return nil, err
		}
	}
	return runs, nil
}

func constant(v any) eval {
	return func(*frame) (any, error) { return v, nil }
}

func (c *compiler) errorAt(node ast.Node, format string, args ...any) error {
	return &SyntaxError{
		Offset:  byteOffset(c.source, node.Location()),
		Message: oneLine(fmt.Sprintf(format, args...), longestMessage),
	}
}

// byteOffset converts the library's offset in characters to one in bytes.
func byteOffset(source string, location file.Location) int {
	count := 0
	for i := range source {
		if count == location.From {
			return i
		}
		count++
	}
	return len(source)
}
