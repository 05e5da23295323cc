package sluice

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"sluice/value"
)

// Error is a failure with a text that is safe to show to the caller. An Error
// does not change once it is made, so it can be shared: the methods that add
// something to it get a copy, and return that.
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
	SQLState   string        // of a database that refuses
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
	Line    int    `json:"line,omitempty" doc:"Where in the source it is."`  // counted from 1; 0 means unknown
	Column  int    `json:"column,omitempty" doc:"Where in the line it is."`  // likewise
	Snippet string `json:"snippet,omitempty" doc:"That part of the source."` // the line as it is written
	Step    string `json:"step,omitempty" doc:"The step that failed."`       // its command, with its id if it has one
}

// Errorf makes an error with the code, its kind, and a message.
func (c Code) Errorf(format string, args ...any) *Error {
	return &Error{Kind: kindsOfCodes()[c], Code: string(c), Message: fmt.Sprintf(format, args...)}
}

// InvalidParameter makes the error of a parameter with a value that is not
// allowed.
func InvalidParameter(parameter, format string, args ...any) *Error {
	return CodeParameterInvalid.Errorf(format, args...).About(parameter)
}

// Error returns the message with the cause behind it, for logs.
func (e Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

// Unwrap returns the cause.
func (e Error) Unwrap() error { return e.Err }

// Because names the cause.
func (e Error) Because(cause error) *Error { e.Err = cause; return &e }

// Saying replaces the message.
func (e Error) Saying(message string) *Error { e.Message = message; return &e }

// Coded replaces the code. The kind stays.
func (e Error) Coded(code Code) *Error { e.Code = string(code); return &e }

// OfKind replaces the kind, where the kind depends on the cause of a failure.
func (e Error) OfKind(kind Kind) *Error { e.Kind = kind; return &e }

// About names the parameter at fault.
func (e Error) About(parameter string) *Error { e.Parameter = parameter; return &e }

// At names the place in a pipeline where it happened.
func (e Error) At(p Position) *Error { e.Position = p; return &e }

// InCall names the call it belongs to.
func (e Error) InCall(traceID string) *Error { e.TraceID = traceID; return &e }

// WithStatus sets the HTTP status in place of that of the kind.
func (e Error) WithStatus(status int) *Error { e.Status = status; return &e }

// After sets when trying again makes sense.
func (e Error) After(wait time.Duration) *Error { e.RetryAfter = wait; return &e }

// Allowing names the methods that are allowed.
func (e Error) Allowing(methods string) *Error { e.Allow = methods; return &e }

// Challenging names ways to authenticate.
func (e Error) Challenging(challenges ...string) *Error { e.Challenge = challenges; return &e }

// InState names the SQLSTATE that a database has refused with.
func (e Error) InState(sqlState string) *Error { e.SQLState = sqlState; return &e }

// Detailed lists all that is wrong.
func (e Error) Detailed(details any) *Error { e.Details = details; return &e }

// Telling sets what outsiders may know of it.
func (e Error) Telling(said Said) *Error { e.Said = &said; return &e }

// Closing marks the connection as unusable from here on.
func (e Error) Closing() *Error { e.Close = true; return &e }

// AsError returns the *Error in err's chain, or one made of the *value.Error
// there. Otherwise it wraps err as a Fault.
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
	return Fault().Because(err)
}

// Fault is the error of a fault of ours. Its text tells the caller nothing.
func Fault() *Error {
	return CodeInternal.Errorf("The server failed to handle this request; its log has the cause.")
}

// Passing is the error of something that is not available now, but will be soon.
func Passing(code Code, message string) *Error {
	return code.Errorf("%s Try again soon.", message).OfKind(Unavailable).After(2 * time.Second)
}

// WrongCredentials is the error of a name and password that don't go together.
func WrongCredentials() *Error {
	return CodeAuthorizationInvalid.Errorf("The credentials are not valid.")
}

// Quote quotes a stranger's text for a message, shortened and without control characters.
func Quote(s string) string {
	const longest = 60
	return strconv.Quote(Shorten(s, longest))
}

// Shorten cuts off a text that people read after so many bytes.
func Shorten(text string, longest int) string {
	if len(text) <= longest {
		return text
	}
	return strings.ToValidUTF8(text[:longest], "") + "…"
}

// EngineAway reports whether an error means that the storage engine is not available,
// as during an election of a cluster. It passes by itself.
func EngineAway(err error) bool {
	switch Code(AsError(err).Code) {
	case CodeEngineUnavailable, CodeEngineFailed, CodeDiskFull, CodeDiskSlow:
		return true
	default:
		return false
	}
}

// Is reports whether an error is of the kind.
func (k Kind) Is(err error) bool { return err != nil && AsError(err).Kind == k }

// Is reports whether an error has the code.
func (c Code) Is(err error) bool { return err != nil && AsError(err).Code == string(c) }
