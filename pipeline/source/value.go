package source

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"sluice"
	"sluice/expression"
	"sluice/value"
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

// Eval computes the value in a scope. Constants are shared. Without a scope, what a run computes is
// null.
func (v *Value) Eval(scope *expression.Scope) (any, error) {
	switch v.shape {
	case formula:
		if scope != nil {
			return v.template.Eval(scope)
		}
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
	for _, t := range v.templates() {
		names = append(names, t.Secrets...)
	}
	return names
}

// isLiteral reports whether the value has no expressions; a field other than * means those in the
// field of that name, in each object.
func (v *Value) isLiteral(field string) bool {
	if v.shape == constant || v.shape == formula || field == "*" {
		return v.shape == constant
	}
	for i := range v.items {
		if (v.shape == listOf || v.keys[i] == field) && !v.items[i].isLiteral(field) {
			return false
		}
	}
	return true
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
		at.line, at.column = c.source.locate(n, syntax.Offset)
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
func (t *Template) Position() sluice.Position { return sluice.Position{Line: t.line, Column: t.column} }

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

// A text is a source. Positions in it are looked for only after a mistake.
type text string

// line returns a line of the source, "" if there is none.
func (t text) line(number int) string {
	lines := strings.SplitN(string(t), "\n", max(0, number)+1)
	if number < 1 || number > len(lines) {
		return ""
	}
	return strings.TrimRight(lines[number-1], " \t\r")
}

// snippet returns a line, shortened for people.
func (t text) snippet(line int) string {
	const longest = 200
	s := t.line(line)
	if characters := []rune(s); len(characters) > longest {
		return string(characters[:longest]) + "…"
	}
	return s
}

// offset returns the byte at a line and column.
func (t text) offset(line, column int) int {
	lines := strings.SplitAfterN(string(t), "\n", max(1, line))
	if line < 1 || line > len(lines) {
		return len(t)
	}
	at := len(t) - len(lines[line-1])
	for ; column > 1 && at < len(t); column-- {
		_, size := utf8.DecodeRuneInString(string(t[at:]))
		at += size
	}
	return at
}

// locate returns the position in the source of a byte of a scalar's text. It reads both
// side by side, since the source has additional white space, quotes and escapes.
func (t text) locate(n *node, offset int) (line, column int) {
	w := walker{rest: string(t[t.offset(n.line, n.column):]), style: n.style}
	switch n.style {
	case singleQuoted, doubleQuoted:
		w.skip(1)
	case block:
		w.skip(1 + strings.IndexByte(w.rest, '\n'))
	}
	for i, r := range n.text {
		w.skipTo(r)
		if i >= offset {
			break
		}
		w.pass(r)
	}
	return value.Position(string(t), len(t)-len(w.rest))
}

// A walker goes through the source of a scalar.
type walker struct {
	rest  string // of the source
	style style
}

func (w *walker) skip(bytes int) { w.rest = w.rest[min(bytes, len(w.rest)):] }

// skipTo skips the white space in the source before a character.
func (w *walker) skipTo(r rune) {
	if unicode.IsSpace(r) {
		return
	}
	w.rest = strings.TrimLeftFunc(w.rest, unicode.IsSpace)
	for w.style == doubleQuoted && strings.HasPrefix(w.rest, "\\\n") {
		w.rest = strings.TrimLeftFunc(w.rest[2:], unicode.IsSpace)
	}
}

// pass skips a character. It leaves white space to skipTo, unless that is escaped.
func (w *walker) pass(r rune) {
	switch {
	case w.style == doubleQuoted && strings.HasPrefix(w.rest, `\`):
		w.skip(escapeLength(w.rest, r))
	case unicode.IsSpace(r):
	case w.style == singleQuoted && r == '\'':
		w.skip(2)
	default:
		w.skip(utf8.RuneLen(r))
	}
}

// escapeLength returns how many bytes an escape for a character takes.
func escapeLength(escape string, r rune) int {
	const pair = 12 // of \ud83d\ude00
	switch {
	case len(escape) < 2:
		return 1
	case escape[1] == 'u' && r > 0xFFFF:
		return pair
	case escape[1] == 'x':
		return len(`\x00`)
	case escape[1] == 'u':
		return len(`\u0000`)
	case escape[1] == 'U':
		return len(`\U00000000`)
	}
	return len(`\n`)
}
