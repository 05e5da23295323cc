package expression

import (
	"errors"
	"fmt"
	"strings"

	"sluice/value"
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
}

// Template is a compiled text of a parameter. It can run many times at once.
type Template struct {
	alone *program // the only expression, if its value keeps its type
	parts []fragment
	slots int // the most variables that one of the programs has
}

// fragment is literal text, or an expression whose value becomes text.
type fragment struct {
	text    string
	program *program
}

// Compile compiles the text of a parameter, with or without expressions in it.
// Its errors are of type *SyntaxError.
func (l *Language) Compile(text string) (*Template, error) {
	found, err := segments(text)
	if err != nil {
		return nil, err
	}
	t := &Template{}
	for _, s := range found {
		if !s.isCode {
			t.parts = append(t.parts, fragment{text: s.text})
			continue
		}
		p, err := l.compile(s.text)
		if err != nil {
			return nil, shifted(err, s.offset)
		}
		t.parts = append(t.parts, fragment{program: p})
		t.slots = max(t.slots, p.slots)
	}
	// A block of YAML ends with a line break: a lone expression before it keeps its type.
	if len(t.parts) == 1 || len(t.parts) == 2 && t.parts[1].text == "\n" {
		t.alone = t.parts[0].program
	}
	return t, nil
}

// Secrets returns the names of the secrets that the template uses.
func (t *Template) Secrets() (names []string) {
	for _, p := range t.parts {
		if p.program != nil {
			names = append(names, p.program.secrets...)
		}
	}
	return names
}

// Reads returns the members that the template reads by name, such as body.payload.name.
func (t *Template) Reads() (names []string) {
	for _, p := range t.parts {
		if p.program != nil {
			names = append(names, p.program.reads...)
		}
	}
	return names
}

// ConstantError returns how an expression of the template fails in each run, whatever the
// run sees; nil if none does.
func (t *Template) ConstantError() error {
	for _, p := range t.parts {
		if p.program == nil || p.program.varies {
			continue
		}
		alone := &Template{alone: p.program, slots: t.slots}
		if _, err := alone.Eval(nil); err != nil {
			return err
		}
	}
	return nil
}

// CompileExpression compiles code, with or without #{ } around it.
func (l *Language) CompileExpression(code string) (*Template, error) {
	if trimmed := strings.TrimSpace(code); opens(trimmed, 0) {
		start := strings.Index(code, trimmed)
		if closing(trimmed, 2) == len(trimmed)-1 {
			t, err := l.Compile(trimmed)
			return t, shifted(err, start)
		}
		return nil, &SyntaxError{Offset: start, Message: "Only one expression can stand here, without any text around it."}
	}
	p, err := l.compile(code)
	if err != nil {
		return nil, err
	}
	return &Template{alone: p, parts: []fragment{{program: p}}, slots: p.slots}, nil
}

// shifted moves the offset of a mistake from the code to the text around it.
func shifted(err error, by int) error {
	if mistake, ok := errors.AsType[*SyntaxError](err); ok {
		mistake.Offset += by
	}
	return err
}

// Static returns the text if it has no expression.
func (t *Template) Static() (value string, ok bool) {
	switch {
	case len(t.parts) == 0:
		return "", true
	case len(t.parts) == 1 && t.parts[0].program == nil:
		return t.parts[0].text, true
	}
	return "", false
}

// Eval runs the template. A lone expression keeps the type of its value; others become
// text. Errors are of type *sluice.Error with the code expression-failed.
func (t *Template) Eval(scope *Scope) (any, error) {
	if scope == nil {
		scope = &Scope{}
	}
	f := &frame{scope: scope, steps: maxSteps, memory: MaxMemory}
	if t.slots > 0 {
		f.variables = make([]any, t.slots)
	}
	if t.alone != nil {
		return t.alone.eval(f, f.last)
	}
	var text strings.Builder
	for _, p := range t.parts {
		part := any(p.text)
		if p.program != nil {
			var err error
			part, err = p.program.eval(f, func(v any) (any, error) {
				s, err := f.text(v)
				if err == nil && text.Len()+len(s) > value.MaxSize {
					err = f.makeText(value.MaxSize + 1)
				}
				if err == nil {
					err = f.tell()
				}
				return s, err
			})
			if err != nil {
				return nil, err
			}
		}
		text.WriteString(part.(string))
	}
	return text.String(), nil
}

// eval runs a program and converts its value with form.
func (p *program) eval(f *frame, form func(v any) (any, error)) (v any, err error) {
	defer func() {
		if r := recover(); r != nil {
			v, err = nil, p.failed(fail("it can't be computed")).Because(fmt.Errorf("panic: %v", r))
		}
	}()
	if v, err = p.run(f); err == nil {
		v, err = form(v)
	}
	if err != nil {
		return nil, p.failed(err)
	}
	return v, nil
}

// segment is a part of a parameter's text: literal, or the code of an expression.
type segment struct {
	text   string
	isCode bool
	offset int // of the code, in the parameter's text
}

// segments splits a text at its expressions. \#{ and \${ stand for the characters
// themselves.
func segments(text string) ([]segment, error) {
	var found []segment
	var literal strings.Builder
	flush := func() {
		if literal.Len() > 0 {
			found = append(found, segment{text: literal.String()})
			literal.Reset()
		}
	}
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && opens(text, i+1):
			literal.WriteString(text[i+1 : i+3])
			i += 2
		case opens(text, i):
			end := closing(text, i+2)
			if end < 0 {
				return nil, &SyntaxError{Offset: i, Message: "The expression that starts here is never closed with }; write \\" + text[i:i+2] + " for the characters themselves."}
			}
			flush()
			found = append(found, segment{text: text[i+2 : end], isCode: true, offset: i + 2})
			i = end
		default:
			literal.WriteByte(text[i])
		}
	}
	flush()
	return found, nil
}

// opens reports whether an expression starts at i.
func opens(text string, i int) bool {
	return i+1 < len(text) && (text[i] == '#' || text[i] == '$') && text[i+1] == '{'
}

// closing finds the } that ends the expression whose code starts at i, or -1.
// It knows braces, the three kinds of quotes and both kinds of comments.
func closing(text string, i int) int {
	for depth := 0; i < len(text); i++ {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth == 0 {
				return i
			}
			depth--
		case '"', '\'':
			i = quoteEnd(text, i)
		case '`':
			i = after(text, i+1, "`")
		case '/':
			switch {
			case strings.HasPrefix(text[i:], "//"):
				i = after(text, i, "\n")
			case strings.HasPrefix(text[i:], "/*"):
				i = after(text, i+2, "*/")
			}
		}
	}
	return -1
}

// quoteEnd finds the quote that ends the one at i, past escaped ones.
func quoteEnd(text string, i int) int {
	quote := text[i]
	for i++; i < len(text) && text[i] != quote; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i
}

// after returns the index of the last byte of the next delimiter, or the end of the text.
func after(text string, i int, delimiter string) int {
	at := strings.Index(text[i:], delimiter)
	if at < 0 {
		return len(text)
	}
	return i + at + len(delimiter) - 1
}
