package expression

import (
	"strings"

	"sluice/limit"
	"sluice/value"
)

// Template is a compiled text of a parameter. It can run many times at once.
type Template struct {
	Uses

	alone *program // the only expression, if its value keeps its type
	parts []fragment
	slots int // the most variables that one of the programs has
}

// Uses are what expressions ask for.
type Uses struct {
	Secrets []string // by name
	Reads   []string // members that are read by name, such as body.payload.name
	Lengths []string // those of them whose length is taken, and "" for what has no name
	Varies  bool     // the value depends on what a run sees
}

// fragment is literal text, or code whose value becomes text.
type fragment struct {
	text    string
	offset  int      // of code, in the parameter's text; literal text has none
	program *program // of code
}

// Compile compiles the text of a parameter, with or without expressions in it.
// Its errors are of type *SyntaxError.
func (l *Language) Compile(text string) (*Template, error) {
	parts, err := fragments(text)
	if err != nil {
		return nil, err
	}
	t := &Template{parts: parts}
	for i := range parts {
		if code := &parts[i]; code.offset > 0 {
			if code.program, err = l.compile(t, code.text); err != nil {
				return nil, shifted(err, code.offset)
			}
		}
	}
	// A block of YAML ends with a line break: a lone expression before it keeps its type.
	if len(t.parts) == 1 || len(t.parts) == 2 && t.parts[1].text == "\n" {
		t.alone = t.parts[0].program
	}
	return t, nil
}

// ConstantError returns how an expression of the template fails in each run, whatever the
// run sees; nil if none does.
func (t *Template) ConstantError(work *limit.Work) error {
	for _, part := range t.parts {
		p := part.program
		if p == nil {
			continue
		}
		for _, run := range p.trials {
			trial := Template{alone: &program{source: p.source, run: run}, slots: p.slots}
			if _, err := trial.Eval(&Scope{Work: work}); err != nil {
				return err
			}
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
		return nil, &SyntaxError{start, "Only one expression can stand here, without any text around it."}
	}
	t := &Template{}
	p, err := l.compile(t, code)
	if err != nil {
		return nil, err
	}
	t.alone, t.parts = p, []fragment{{program: p}}
	return t, nil
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
	f := &frame{scope: scope, steps: maxSteps, told: maxSteps, memory: MaxMemory, variables: make([]any, t.slots)}
	f.pause = max(0, maxSteps-scope.Work.Left())
	defer f.rest()
	if t.alone != nil {
		return t.alone.evaluate(f, f.plain)
	}
	var text strings.Builder
	for _, part := range t.parts {
		if part.program == nil {
			text.WriteString(part.text)
			continue
		}
		_, err := part.program.evaluate(f, func(v any) any {
			s := f.asText(v)
			if text.Len()+len(s) > value.MaxSize {
				f.makeText(value.MaxSize + 1)
			}
			text.WriteString(s)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return text.String(), nil
}
