package expression

import (
	"errors"
	"fmt"
	"strings"

	"sluice"
	"sluice/value"
)

// stop ends a run: what an operation panics with when it fails. The operations of an interpreter call each other
// deeply and all fail alike, so the reason is handed up once, in program.eval, as package text/template does it.
type stop struct{ reason error }

// fail ends the run and says why, to the author of the expression. It returns for the compiler's sake only.
func fail(format string, args ...any) any { panic(stop{fmt.Errorf(format, args...)}) }

// check ends the run if there is an error.
func check(err error) {
	if err != nil {
		panic(stop{err})
	}
}

// callError is the error of a function. Its text is for users only if it is an *sluice.Error.
type callError struct {
	function string
	err      error
}

func (e *callError) Error() string {
	if public, ok := errors.AsType[*sluice.Error](e.err); ok {
		return e.function + ": " + public.Message
	}
	return e.function + " failed"
}

func (e *callError) Unwrap() error { return e.err }

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
	case sluice.Internal, sluice.Timeout, sluice.Throttled, sluice.Unavailable, sluice.Forbidden, sluice.Unauthenticated:
		return true
	}
	return false
}
