package pipeline

import (
	"errors"

	"sluice/expression"
)

// A template is an expression, or a text with expressions in it, and knows where
// in the source it begins.
type template struct {
	*expression.Template
	line, column int
}

// A templateError is the failure of one template. A step may hold many, so it
// tells which.
type templateError struct {
	error
	at *template
}

func (e *templateError) Unwrap() error { return e.error }

// Eval returns the value in a scope.
func (t *template) Eval(scope *expression.Scope) (any, error) {
	v, err := t.Template.Eval(scope)
	if err != nil {
		return nil, &templateError{err, t}
	}
	return v, nil
}

// placeIn returns where in a step an error happened: at one of its templates, or
// at its beginning.
func placeIn(s *step, err error) (line, column int) {
	if e, ok := errors.AsType[*templateError](err); ok {
		return e.at.line, e.at.column
	}
	return s.line, s.column
}
