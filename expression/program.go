package expression

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sluice"
	"sluice/value"
)

// program is an expression, ready to run.
type program struct {
	source string
	slots  int // how many variables it has
	run    eval
	trials []eval // parts that can be tried without a scope: what fails there fails in each run
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
		if failure, ok := errors.AsType[*sluice.Error](cause); ok && slices.Contains(passing, failure.Kind) {
			kind = failure.Kind
		}
	}
	snippet := oneLine(p.source, longestSnippet)
	return sluice.CodeExpressionFailed.Errorf("The expression %s failed: %s.", snippet, why).
		OfKind(kind).Because(cause)
}

// passing are the kinds of failures of a function that are no fault of the expression: they may
// be temporary, or the run lacks a permission.
var passing = []sluice.Kind{
	sluice.Internal, sluice.Timeout, sluice.Throttled, sluice.Unavailable, sluice.Forbidden, sluice.Unauthenticated,
}

// eval runs one part of an expression.
type eval func(f *frame) any

// operation computes a value from others. It must not keep the slice.
type operation func(f *frame, args []any) any

// operate is the implementation of an operator. It is not ok if the operator does not
// support the types of its operands.
type operate func(f *frame, a, b any) (v any, ok bool)

// strict is an operation on operands that are all evaluated first, in their order.
func strict(run operation, operands ...eval) eval {
	return func(f *frame) any {
		base := len(f.stack)
		for _, operand := range operands {
			v := operand(f)
			f.stack = append(f.stack, v)
		}
		v := run(f, f.stack[base:])
		f.stack = f.stack[:base]
		return v
	}
}

func constant(v any) eval { return func(*frame) any { return v } }

// stop is what an operation panics with when it fails, as in package text/template: operations
// call each other deeply and all fail alike, and program.evaluate makes an error of it in one place.
type stop struct{ reason error }

// fail ends the run and says why, to the author of the expression. It has a result only so
// that callers can return it.
func fail(format string, args ...any) any { panic(stop{fmt.Errorf(format, args...)}) }

// check ends the run if there is an error.
func check(err error) {
	if err != nil {
		panic(stop{err})
	}
}

// callError is the error of a function. Its text is for users only if it is an *sluice.Error.
type callError struct {
	name string
	err  error
}

func (e *callError) Error() string {
	if public, ok := errors.AsType[*sluice.Error](e.err); ok {
		return e.name + ": " + public.Message
	}
	return e.name + " failed"
}

func (e *callError) Unwrap() error { return e.err }
