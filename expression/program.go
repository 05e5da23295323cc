package expression

import (
	"errors"
	"fmt"
	"strings"

	"sluice"
	"sluice/value"
)

// program is an expression, ready to run.
type program struct {
	source  string
	slots   int      // how many variables it has
	secrets []string // names of the secrets it uses
	reads   []string // members that it reads by name, such as body.payload.name
	varies  bool     // it reads the scope: its value is not the same in each run
	run     eval
}

// evaluate runs a program, gives its value a form, and reports the memory that both took.
func (p *program) evaluate(f *frame, form func(v any) any) (v any, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case stop:
			v, err = nil, p.failed(r.reason)
		default:
			unknown := errors.New("it can't be computed")
			v, err = nil, p.failed(unknown).Because(fmt.Errorf("panic: %v", r))
		}
	}()
	v = form(p.run(f))
	f.report()
	return v, nil
}

// failed returns the error of a run.
func (p *program) failed(reason error) *sluice.Error {
	why := strings.TrimSuffix(reason.Error(), ".")
	if _, ok := errors.AsType[*value.Error](reason); ok {
		why = strings.ToLower(why[:1]) + why[1:]
	}
	kind, cause := sluice.Invalid, error(nil)
	if called, ok := errors.AsType[*callError](reason); ok {
		cause = called.err
		if failure, ok := errors.AsType[*sluice.Error](cause); ok && passes(failure.Kind) {
			kind = failure.Kind
		}
	}
	snippet := oneLine(p.source, longestSnippet)
	return sluice.Errorf(sluice.CodeExpressionFailed, "The expression %s failed: %s.", snippet, why).
		OfKind(kind).Because(cause)
}

// passes reports whether a failure of a function is no fault of the expression: it may be
// temporary, or the run lacks a permission.
func passes(kind sluice.Kind) bool {
	switch kind {
	case sluice.Internal, sluice.Timeout, sluice.Throttled, sluice.Unavailable:
		return true
	case sluice.Forbidden, sluice.Unauthenticated:
		return true
	}
	return false
}
