package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/cmd/sluice/view"
)

// Exit codes. Scripts rely on them: they keep their meaning.
const (
	exitOther        = 1
	exitUsage        = 2
	exitLogin        = 3
	exitForbidden    = 4
	exitNotFound     = 5
	exitUnavailable  = 6
	exitConflict     = 7
	exitThrottled    = 8
	exitFailed       = 9
	exitTimeout      = 10
	exitInterrupted  = 130
	hintLogin        = "Log in with sluice login."
	exitCodesSummary = `Exit codes:

    0  all is well
    1  another failure
    2  the command line or a parameter is wrong
    3  not logged in, or wrong credentials
    4  not allowed, or not signed as the webhook demands
    5  not found, or no longer there
    6  the server can't be reached, or is not ready
    7  it clashes with what is stored, or differs from it
    8  too many requests; try again later
    9  a pipeline has mistakes, failed, or failed its tests
   10  the time to wait was over
  130  interrupted
`
)

// exitOf maps kinds of failure to exit codes.
var exitOf = map[sluice.Kind]int{
	sluice.Internal:         exitOther,
	sluice.Invalid:          exitUsage,
	sluice.Unauthenticated:  exitLogin,
	sluice.Forbidden:        exitForbidden,
	sluice.NotFound:         exitNotFound,
	sluice.MethodNotAllowed: exitUsage,
	sluice.Timeout:          exitUnavailable,
	sluice.Conflict:         exitConflict,
	sluice.Gone:             exitNotFound,
	sluice.TooLarge:         exitUsage,
	sluice.Unsupported:      exitUsage,
	sluice.Throttled:        exitThrottled,
	sluice.Unavailable:      exitUnavailable,
	sluice.Loop:             exitOther,
	sluice.Unprocessable:    exitUsage,
	sluice.Outdated:         exitConflict,
	sluice.HeadTooLarge:     exitUsage,
	sluice.Full:             exitConflict,
}

// A failure is an error with an exit code of its own.
type failure struct {
	code    int
	message string
	hint    string // in a line of its own
}

// Error implements error.
func (f *failure) Error() string { return f.message }

// usage makes the error for a command line that makes no sense.
func usage(format string, args ...any) *failure {
	return fail(exitUsage, format, args...)
}

// fail makes an error with an exit code of its own.
func fail(code int, format string, args ...any) *failure {
	return &failure{code: code, message: fmt.Sprintf(format, args...)}
}

// help adds a hint to the verb's help.
func (f *failure) help(cmd *cobra.Command) *failure {
	return &failure{f.code, f.message, cmd.CommandPath() + " --help explains it."}
}

// exitCode returns the code that the program ends with.
func exitCode(err error) int {
	own, isOwn := errors.AsType[*failure](err)
	e, isError := errors.AsType[*sluice.Error](err)
	switch {
	case err == nil:
		return 0
	case isOwn:
		return own.code
	case isError && (e.Position.Line > 0 || e.Position.Step != ""):
		return exitFailed
	case isError && isOfSignature(e):
		return exitForbidden // whoever is logged in
	case isError:
		return exitOf[e.Kind]
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, context.DeadlineExceeded):
		return exitTimeout
	}
	return exitOther
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
	return e.Kind == sluice.Unauthenticated && !isOfSignature(e) && e.Code != sluice.CodeTokenInvalid.Word
}

// explain returns an error in one line, with what to do next.
func explain(err error) string {
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
	return view.Printable(strings.Join(strings.Fields(text), " "))
}

func withHint(e *sluice.Error) string {
	text := e.Message
	switch {
	case e.Code == sluice.CodeInvalidGrant.Word:
		text += " Check both and try again."
	case isOfLogin(e) && !strings.Contains(text, "Log in") && !strings.Contains(text, "SLUICE_"):
		text += " " + hintLogin
	case e.Kind == sluice.Throttled && e.RetryAfter > 0:
		text += fmt.Sprintf(" Try again in %s.", e.RetryAfter)
	}
	if e.TraceID != "" {
		text += " (trace id " + e.TraceID + ")"
	}
	return text
}

// failures joins several errors into one, with the exit code of the first.
func failures(errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return errs[0]
	}
	return fail(exitCode(errs[0]), "%s (and %d more)", explain(errs[0]), len(errs)-1)
}
