package expression

import (
	"cmp"
	"fmt"
	"maps"
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

func constant(v any) eval { return func(*frame) (any, error) { return v, nil } }

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

// kind is the type of value that a built-in function needs as an argument.
type kind int

const (
	anyKind kind = iota
	textKind
	listKind
	objectKind
	integerKind // a number without a fraction, handed over as an int
	numberKind  // an int or a float64
)

var kindNames = map[kind]string{
	textKind: "text", listKind: "a list", objectKind: "an object", integerKind: "a whole number", numberKind: "a number",
}

// function is a built-in function. Its arguments are checked before it runs.
type function struct {
	usage  string
	kinds  []kind // of its arguments
	needed int    // how many arguments are required; 0: all
	many   bool   // the last argument may be repeated
	run    func(f *frame, args []any) (any, error)
}

// builtins has the built-in functions without a predicate.
var builtins = merged(textFunctions, listFunctions, numberFunctions, timeFunctions)

// refused has the functions of expr-lang that are not available, with alternatives.
var refused = map[string]string{"timezone": "give date the name of the zone: date(text, layout, zone)"}

func merged(tables ...map[string]function) map[string]function {
	all := make(map[string]function)
	for _, table := range tables {
		maps.Copy(all, table)
	}
	return all
}

func (c *compiler) builtin(node *ast.BuiltinNode) (eval, error) {
	if _, ok := predicates[node.Name]; ok {
		return c.predicate(node)
	}
	if instead, ok := refused[node.Name]; ok {
		return nil, c.errorAt(node, "The function %s is not available; %s.", node.Name, instead)
	}
	fn, ok := builtins[node.Name]
	if !ok {
		return nil, c.noFunction(node, node.Name)
	}
	needed := cmp.Or(fn.needed, len(fn.kinds))
	if n := len(node.Arguments); n < needed || n > len(fn.kinds) && !fn.many {
		return nil, c.errorAt(node, "%s got %d values; use %s.", node.Name, n, fn.usage)
	}
	runs, err := c.compileAll(node.Arguments)
	if err != nil {
		return nil, err
	}
	return func(f *frame) (any, error) {
		args := make([]any, len(runs))
		for i, run := range runs {
			v, err := run(f)
			if err != nil {
				return nil, err
			}
			needs := fn.kinds[min(i, len(fn.kinds)-1)]
			arg, ok := fits(needs, v)
			if !ok {
				return nil, fail("%s needs %s, not %s", node.Name, kindNames[needs], describe(v))
			}
			args[i] = arg
		}
		return fn.run(f, args)
	}, nil
}

// fits reports whether a value is of a kind, and converts it to that kind.
func fits(needs kind, v any) (any, bool) {
	var ok bool
	switch needs {
	case anyKind:
		ok = true
	case textKind:
		_, ok = v.(string)
	case listKind:
		_, ok = v.([]any)
	case objectKind:
		_, ok = v.(map[string]any)
	case integerKind:
		return whole(v)
	case numberKind:
		_, ok = float(v)
	}
	return v, ok
}
