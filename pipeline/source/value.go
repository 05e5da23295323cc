package source

import (
	"errors"

	"sluice/expression"
)

// A Value is a value of a source. Its texts may hold expressions.
type Value struct {
	shape    shape
	data     any       // a constant
	template *Template // a text with expressions
	keys     []string  // of an object
	items    []Value   // of a list, or the values of an object
}

type shape int

const (
	constant shape = iota
	formula
	listOf
	objectOf
)

// Eval computes the value in a scope. Constants are shared.
func (v *Value) Eval(scope *expression.Scope) (any, error) {
	switch v.shape {
	case formula:
		return v.template.Eval(scope)
	case listOf:
		items := make([]any, len(v.items))
		for i := range v.items {
			var err error
			if items[i], err = v.items[i].Eval(scope); err != nil {
				return nil, err
			}
		}
		return items, nil
	case objectOf:
		fields := make(map[string]any, len(v.items))
		for i := range v.items {
			field, err := v.items[i].Eval(scope)
			if err != nil {
				return nil, err
			}
			fields[v.keys[i]] = field
		}
		return fields, nil
	}
	return v.data, nil
}

// Secrets returns the names of the secrets that the value asks for. A nil value asks for
// none.
func (v *Value) Secrets() (names []string) {
	if v == nil {
		return nil
	}
	if v.template != nil {
		names = v.template.Secrets()
	}
	for i := range v.items {
		names = append(names, v.items[i].Secrets()...)
	}
	return names
}

// value compiles a node and all within it.
func (c *checker) value(n *node) Value {
	switch n.kind {
	case list:
		v := Value{shape: listOf}
		for _, item := range n.items {
			v.items = append(v.items, c.value(item))
		}
		return settled(v)
	case object:
		v := Value{shape: objectOf}
		for key, field := range n.entries() {
			v.keys = append(v.keys, key.text)
			v.items = append(v.items, c.value(field))
		}
		return settled(v)
	}
	if _, isText := n.string(); !isText {
		return Value{data: n.data}
	}
	compiled, err := c.language.Compile(n.text)
	if err != nil {
		c.mistake(n, err)
		return Value{}
	}
	if static, ok := compiled.Static(); ok {
		return Value{data: static}
	}
	return Value{shape: formula, template: &Template{compiled, n.line, n.column}}
}

// settled turns a list or object of constants into a constant.
func settled(v Value) Value {
	for i := range v.items {
		if v.items[i].shape != constant {
			return v
		}
	}
	data, _ := v.Eval(nil) // constants don't fail
	return Value{data: data}
}

// expression compiles an expression, with or without #{ } around it. true and false stand
// for themselves.
func (c *checker) expression(n *node, name string) *Template {
	if n.kind != scalar || n.data == nil {
		c.problemf(n, "%s must be an expression such as #{body.total > 100}, not %s.", name, n.describe())
		return nil
	}
	compiled, err := c.language.CompileExpression(n.text)
	if err != nil {
		c.mistake(n, err)
		return nil
	}
	return &Template{compiled, n.line, n.column}
}

// mistake notes an error in a text, at its position within the text.
func (c *checker) mistake(n *node, err error) {
	if len(c.problems) >= MaxProblems {
		return
	}
	at, message := *n, err.Error()
	if syntax, ok := errors.AsType[*expression.SyntaxError](err); ok {
		at.line, at.column = c.text.locate(n, syntax.Offset)
		message = syntax.Message
	}
	c.problemf(&at, "%s", message)
}

// A Template is an expression, or a text with expressions in it, with its position.
type Template struct {
	*expression.Template
	line, column int
}

// Position returns where the template stands in the source.
func (t *Template) Position() (line, column int) { return t.line, t.column }

// templates returns the templates in a value. A nil value has none.
func (v *Value) templates() (found []*Template) {
	if v == nil {
		return nil
	}
	if v.template != nil {
		found = append(found, v.template)
	}
	for i := range v.items {
		found = append(found, v.items[i].templates()...)
	}
	return found
}

// A templateError is the failure of one template of a step.
type templateError struct {
	error
	at *Template
}

func (e *templateError) Unwrap() error { return e.error }

// Eval returns the value in a scope.
func (t *Template) Eval(scope *expression.Scope) (any, error) {
	v, err := t.Template.Eval(scope)
	if err != nil {
		return nil, &templateError{err, t}
	}
	return v, nil
}
