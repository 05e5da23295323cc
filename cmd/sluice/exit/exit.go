// Package exit is how the program ends: errors of the command line with their exit codes, and
// what people read of any error.
package exit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sluice"
)

// The exit codes that verbs end with themselves. Scripts rely on all codes: they keep their meaning.
const (
	Other       = 1
	NotFound    = 5
	Conflict    = 7
	Failed      = 9
	Interrupted = 130
)

// The codes that only errors of the server, of the command line and of time lead to.
const (
	badUsage    = 2
	noLogin     = 3
	forbidden   = 4
	unavailable = 6
	throttled   = 8
	timeout     = 10
)

// ofKind returns the exit code for a kind of failure.
func ofKind(kind sluice.Kind) int {
	switch kind {
	case sluice.Internal, sluice.Loop:
		return Other
	case sluice.Unauthenticated:
		return noLogin
	case sluice.Forbidden:
		return forbidden
	case sluice.NotFound, sluice.Gone:
		return NotFound
	case sluice.Conflict, sluice.Outdated, sluice.Full:
		return Conflict
	case sluice.Timeout, sluice.Unavailable:
		return unavailable
	case sluice.Throttled:
		return throttled
	}
	return badUsage // it stays wrong however often it is tried
}

// A CodeError is an error with an exit code of its own.
type CodeError struct {
	Code    int
	Message string
	Hint    string // in lines of its own
}

// Error implements error.
func (f *CodeError) Error() string { return f.Message }

// Usage makes the error for a command line that makes no sense.
func Usage(format string, args ...any) *CodeError {
	return Errorf(badUsage, format, args...)
}

// Errorf makes an error with an exit code of its own.
func Errorf(code int, format string, args ...any) *CodeError {
	return &CodeError{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Help adds a hint to the verb's help.
func (f *CodeError) Help(cmd *cobra.Command) *CodeError {
	return &CodeError{f.Code, f.Message, cmd.CommandPath() + " --help explains it."}
}

// CodeOf returns the code that the program ends with.
func CodeOf(err error) int {
	own, isOwn := errors.AsType[*CodeError](err)
	e, isError := errors.AsType[*sluice.Error](err)
	switch {
	case err == nil:
		return 0
	case isOwn:
		return own.Code
	case isError && (e.Position.Line > 0 || e.Position.Step != ""):
		return Failed
	case isError && isOfSignature(e):
		return forbidden // whoever is logged in
	case isError:
		return ofKind(e.Kind)
	case errors.Is(err, context.Canceled):
		return Interrupted
	case errors.Is(err, context.DeadlineExceeded):
		return timeout
	}
	return Other
}

// isOfSignature reports whether a webhook refused a call because of its signature, or of the
// certificate that it came with.
func isOfSignature(e *sluice.Error) bool {
	return e.Kind == sluice.Unauthenticated &&
		(strings.HasPrefix(e.Code, "signature-") || strings.HasPrefix(e.Code, "certificate-"))
}

// isOfLogin reports whether another login may help. It does not with webhooks, which
// know no logins.
func isOfLogin(e *sluice.Error) bool {
	return e.Kind == sluice.Unauthenticated && !isOfSignature(e) && e.Code != string(sluice.CodeTokenInvalid)
}

// Explain returns an error in one line, with what to do next.
func Explain(err error) string {
	text := err.Error()
	e, ok := errors.AsType[*sluice.Error](err)
	switch {
	case ok:
		text = withHint(e)
	case errors.Is(err, context.Canceled):
		text = "interrupted"
	case errors.Is(err, context.DeadlineExceeded):
		text = "The time to wait is over; try again with a longer --timeout."
	}
	return strings.Join(strings.Fields(text), " ")
}

func withHint(e *sluice.Error) string {
	text := e.Message
	switch {
	case e.Code == string(sluice.CodeInvalidGrant):
		text += " Check both and try again."
	case isOfLogin(e) && !strings.Contains(text, "Log in") && !strings.Contains(text, "SLUICE_"):
		text += " Log in with sluice login."
	case e.Kind == sluice.Throttled && e.RetryAfter > 0:
		text += fmt.Sprintf(" Try again in %s.", e.RetryAfter)
	}
	details, _ := e.Details.([]any)
	for _, item := range details { // where a payload does not meet a schema
		fields, _ := item.(map[string]any)
		if where, ok := fields["pointer"].(string); ok {
			text = strings.TrimSuffix(text, "; errors says where.")
			text += fmt.Sprintf("; at %s: %v", cmp.Or(where, "its top"), fields["message"])
		}
	}
	if e.TraceID != "" {
		text += " (trace id " + e.TraceID + ")"
	}
	return text
}

// Failures joins several errors into one, with the exit code of the first.
func Failures(errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return errs[0]
	}
	return Errorf(CodeOf(errs[0]), "%s (and %d more)", Explain(errs[0]), len(errs)-1)
}
