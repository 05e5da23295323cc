package expression

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"sluice/limit"
	"sluice/spelling"
)

// Scope is what an expression sees. Its values are JSON types.
type Scope struct {
	Body    any
	Vars    map[string]any
	Headers map[string]any
	Request map[string]any
	User    map[string]any
	Secret  func(name string) (string, error)

	// Memory is called before templates make many bytes, and may refuse. It may be nil.
	Memory func(bytes int) error

	// Work paces those that compute for long. It may be nil.
	Work *limit.Work
}

// objects has the objects that every expression sees.
var objects = map[string]func(*Scope) any{
	"body":    func(s *Scope) any { return s.Body },
	"vars":    func(s *Scope) any { return orEmpty(s.Vars) },
	"headers": func(s *Scope) any { return orEmpty(s.Headers) },
	"request": func(s *Scope) any { return orEmpty(s.Request) },
	"user":    func(s *Scope) any { return orEmpty(s.User) },
}

func orEmpty(object map[string]any) map[string]any {
	if object == nil {
		return map[string]any{}
	}
	return object
}

func (c *compiler) identifier(node *ast.IdentifierNode) eval {
	for _, v := range slices.Backward(c.variables) {
		if v.name == node.Value {
			return func(f *frame) any { return f.variables[v.slot] }
		}
	}
	if get, ok := objects[node.Value]; ok {
		if c.language.early && node.Value != "body" {
			return c.mistake(node, "There is no %s yet: this is computed from body alone, before a run begins.",
				node.Value)
		}
		c.varies = true
		return func(f *frame) any { return get(f.scope) }
	}
	if c.language.isFunction(node.Value) {
		return c.mistake(node, "%s is a function: call it with (…).", node.Value)
	}
	for _, name := range c.language.names {
		if strings.HasPrefix(name, node.Value+".") {
			return c.mistake(node, "%s holds functions such as %s: call one with (…).", node.Value, name)
		}
	}
	if node.Value == "null" { // as in JSON; the language itself has nil
		return constant(nil)
	}
	names := []string{"body", "headers", "request", "user", "vars", "null", "true", "false"}
	for _, v := range c.variables {
		names = append(names, v.name)
	}
	return c.mistake(node, "There is no %s; %s", node.Value,
		spelling.Hint(node.Value, names, "there are body, headers, request, user and vars."))
}

// pointer compiles #, #index or #acc.
func (c *compiler) pointer(node *ast.PointerNode) eval {
	if len(c.predicates) == 0 {
		return c.mistake(node, "# stands for an item only within a function such as filter.")
	}
	switch node.Name {
	case "":
		return func(f *frame) any { return f.item }
	case "index":
		return func(f *frame) any { return f.index }
	case "acc":
		if c.predicates[len(c.predicates)-1] == "reduce" {
			return func(f *frame) any { return f.acc }
		}
		return c.mistake(node, "#acc is there within reduce only.")
	}
	return c.mistake(node, "There is no #%s; there are #, #index and #acc.", node.Name)
}

// let compiles a name for a value, valid in the rest of the expression.
func (c *compiler) let(node *ast.VariableDeclaratorNode) eval {
	used := slices.ContainsFunc(c.variables, func(v variable) bool { return v.name == node.Name })
	if _, ok := objects[node.Name]; ok || used || c.language.uses(node.Name) {
		return c.mistake(node, "The name %s is taken; choose another one.", node.Name)
	}
	value := c.compile(node.Value)
	slot := c.slots
	c.slots++
	c.variables = append(c.variables, variable{node.Name, slot})
	rest := c.compile(node.Expr)
	c.variables = c.variables[:len(c.variables)-1]
	return func(f *frame) any {
		f.variables[slot] = value(f)
		return rest(f)
	}
}
