package sluice

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"sluice/value"
)

// Kind says what sort of failure an error is. Package problem maps kinds to HTTP
// status codes, cmd/sluice to exit codes.
type Kind int

// The kinds of failure.
const (
	Internal         Kind = iota // a fault of ours that has no better name
	Invalid                      // the request is wrong and stays wrong
	Unauthenticated              // the caller is not known
	Forbidden                    // the caller is known and not permitted
	NotFound                     // there is no such thing
	MethodNotAllowed             // the thing exists, the method doesn't apply
	Timeout                      // the caller was too slow
	Conflict                     // it clashes with what is stored
	Gone                         // it is no longer there
	TooLarge                     // it exceeds a limit on size
	Unsupported                  // it is in a form we don't accept
	Throttled                    // it comes too often
	Unavailable                  // we can't do it now; trying again helps
	Loop                         // it would cause itself over and over
	Unprocessable                // it is well-formed, but not allowed here
	Outdated                     // it was changed since the caller read it
	HeadTooLarge                 // the headers of the request exceed a limit
	Full                         // there is no room for it; trying again does not help
)

// Error is a failure with a text that is safe to show to the caller. An Error
// does not change once it is made, so it can be shared: the methods that add
// something to it return a copy.
type Error struct {
	Kind    Kind
	Code    string // stable word for programs, such as payload-too-large
	Message string // for people: what went wrong and what to do next
	Err     error  // the cause: logged, never shown
	Hints
}

// Hints tell the caller more about an error. Each is optional.
type Hints struct {
	Parameter  string        // the parameter at fault
	Position   Position      // where in a pipeline it is
	TraceID    string        // the call it belongs to
	Status     int           // the HTTP status that an author chose in place of the kind's
	RetryAfter time.Duration // when trying again makes sense
	Allow      string        // the methods that are allowed, with MethodNotAllowed
	Challenge  []string      // ways to authenticate, with Unauthenticated
	Close      bool          // the connection can't be used any further
	Details    any           // a list of all that is wrong, shown as errors
	Said       *Said         // what outsiders may know of it
}

// Said is what the caller of a webhook is told of a failure. Everything else in an
// error is for insiders.
type Said struct {
	Message    string `json:"message"`
	StatusCode int    `json:"statusCode,omitempty"` // 0 means that of any failure
	Code       string `json:"code,omitempty"`       // empty means that of any failure
}

// A Position is a line and column in the source of a pipeline.
type Position struct {
	Line, Column int    // counted from 1; 0 means unknown
	Snippet      string // the line as it is written
	Step         string // the command of the step, with its id if it has one
}

// Errorf makes an error with a code, the code's kind, and a message.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Kind: code.Kind, Code: code.Word, Message: fmt.Sprintf(format, args...)}
}

// InvalidParameter makes the error of a parameter with a value that is not
// allowed.
func InvalidParameter(parameter, format string, args ...any) *Error {
	return Errorf(CodeParameterInvalid, format, args...).About(parameter)
}

// Error returns the message with the cause behind it, for logs.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// with returns a copy of the error, changed by a function.
func (e *Error) with(change func(*Error)) *Error {
	changed := *e
	change(&changed)
	return &changed
}

// Because names the cause.
func (e *Error) Because(cause error) *Error { return e.with(func(c *Error) { c.Err = cause }) }

// Saying replaces the message.
func (e *Error) Saying(message string) *Error { return e.with(func(c *Error) { c.Message = message }) }

// Coded replaces the code. The kind stays.
func (e *Error) Coded(code Code) *Error { return e.with(func(c *Error) { c.Code = code.Word }) }

// OfKind replaces the kind, where the kind depends on the cause of a failure.
func (e *Error) OfKind(kind Kind) *Error { return e.with(func(c *Error) { c.Kind = kind }) }

// About names the parameter at fault.
func (e *Error) About(parameter string) *Error {
	return e.with(func(c *Error) { c.Parameter = parameter })
}

// At names the place in a pipeline where it happened.
func (e *Error) At(p Position) *Error { return e.with(func(c *Error) { c.Position = p }) }

// InCall names the call it belongs to.
func (e *Error) InCall(traceID string) *Error { return e.with(func(c *Error) { c.TraceID = traceID }) }

// WithStatus sets the HTTP status in place of that of the kind.
func (e *Error) WithStatus(status int) *Error { return e.with(func(c *Error) { c.Status = status }) }

// After sets when trying again makes sense.
func (e *Error) After(wait time.Duration) *Error {
	return e.with(func(c *Error) { c.RetryAfter = wait })
}

// Allowing names the methods that are allowed.
func (e *Error) Allowing(methods string) *Error { return e.with(func(c *Error) { c.Allow = methods }) }

// Challenging names ways to authenticate.
func (e *Error) Challenging(challenges ...string) *Error {
	return e.with(func(c *Error) { c.Challenge = challenges })
}

// Detailed lists all that is wrong.
func (e *Error) Detailed(details any) *Error { return e.with(func(c *Error) { c.Details = details }) }

// Telling sets what outsiders may know of it.
func (e *Error) Telling(said Said) *Error { return e.with(func(c *Error) { c.Said = &said }) }

// Closing marks the connection as unusable from here on.
func (e *Error) Closing() *Error { return e.with(func(c *Error) { c.Close = true }) }

// AsError returns the *Error in err's chain, or one made of the *value.Error
// there. Otherwise it wraps err as an internal fault whose text tells the
// caller nothing.
func AsError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*value.Error](err); ok {
		kind := Invalid
		if e.Size {
			kind = TooLarge
		}
		return &Error{Kind: kind, Code: e.Code, Message: e.Message}
	}
	return Errorf(CodeInternal, "The server failed to handle this request; its log has the cause.").Because(err)
}

// Passing is the error of something that is not available now, but will be soon.
func Passing(code Code, message string) *Error {
	return Errorf(code, "%s Try again soon.", message).OfKind(Unavailable).After(2 * time.Second)
}

// WrongCredentials is the error of a name and password that don't go together.
func WrongCredentials() *Error {
	return Errorf(CodeAuthorizationInvalid, "The credentials are not valid.")
}

// Quote quotes a stranger's text for a message, shortened and without control characters.
func Quote(s string) string {
	const longest = 60
	if len(s) > longest {
		s = strings.ToValidUTF8(s[:longest], "") + "…"
	}
	return strconv.Quote(s)
}

// EngineAway reports whether an error means that the storage engine is not available,
// as during an election of a cluster. It passes by itself.
func EngineAway(err error) bool {
	switch AsError(err).Code {
	case CodeEngineUnavailable.Word, CodeEngineFailed.Word, CodeDiskFull.Word, CodeDiskSlow.Word:
		return true
	default:
		return false
	}
}

// A Problem is an error as callers see it (RFC 9457): the body of an answer, or
// a part of the result of a failed pipeline. Package problem makes them.
type Problem struct {
	Type       string `json:"type" doc:"Name of the kind of problem."`
	Title      string `json:"title" doc:"The status in words."`
	Status     int    `json:"status" doc:"The HTTP status."`
	Detail     string `json:"detail" doc:"What went wrong, and what to do next."`
	Code       string `json:"code" doc:"A stable word for it, such as payload-too-large."`
	StatusCode int    `json:"statusCode" doc:"The HTTP status once more."`
	TraceID    string `json:"traceId,omitempty" doc:"The call that it is about."`
	Parameter  string `json:"parameter,omitempty" doc:"The parameter at fault."`
	Line       int    `json:"line,omitempty" doc:"Where in the source it is."`
	Column     int    `json:"column,omitempty" doc:"Where in the line it is."`
	Snippet    string `json:"snippet,omitempty" doc:"That part of the source."`
	Step       string `json:"step,omitempty" doc:"The step that failed."`
	Errors     any    `json:"errors,omitempty" doc:"What is wrong, one by one."`
}
