package expression

import (
	"errors"
	"fmt"

	"sluice"
)

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
