package sluice

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"sluice/value"
)

// Kind says what sort of failure an error is. One place maps kinds to HTTP
// status codes, one to exit codes.
type Kind int

// The kinds of failure.
const (
	Internal         Kind = iota // a fault of ours that has no better name
	Invalid                      // the request is wrong and stays wrong
	Unauthenticated              // nobody we know is calling
	Forbidden                    // the caller is known and may not
	NotFound                     // there is no such thing
	MethodNotAllowed             // the thing exists, the method doesn't apply
	Timeout                      // the caller was too slow
	Conflict                     // it clashes with what is stored
	Gone                         // it is no longer there
	TooLarge                     // it exceeds a limit on size
	Unsupported                  // it is in a form we don't take
	Throttled                    // it comes too often
	Unavailable                  // we can't do it now; trying again helps
)

// Error is a failure with a text that is safe to show to the caller.
type Error struct {
	Kind       Kind
	Code       string        // stable word for programs, such as payload-too-large
	Message    string        // for people: what went wrong and what to do next
	Parameter  string        // the parameter at fault, if one is
	Status     int           // the HTTP status, if it is not that of the kind
	TraceID    string        // the call it belongs to, if there is one
	Place      Place         // where in a pipeline it is, if it is in one
	RetryAfter time.Duration // when trying again makes sense; 0 means unsaid
	Allow      string        // the methods that are allowed, with MethodNotAllowed
	Challenge  []string      // ways to authenticate, with Unauthenticated
	Close      bool          // the connection can't be used any further
	Err        error         // the cause: logged, never shown
}

// A Place is a spot in the source of a pipeline.
type Place struct {
	Line, Column int    // counted from 1; 0 means unknown
	Snippet      string // the line as it is written
	Step         string // the command of the step, with its id if it has one
}

// Errorf makes an error of a kind with a stable code and a message.
func Errorf(kind Kind, code, format string, args ...any) *Error {
	return &Error{Kind: kind, Code: code, Message: fmt.Sprintf(format, args...)}
}

// Error gives the message with the cause behind it, for logs.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Because records the cause and returns the error itself.
func (e *Error) Because(cause error) *Error {
	e.Err = cause
	return e
}

// SetHeaders sets the headers of an answer that tell the caller what to do next,
// whatever form its body has.
func (e *Error) SetHeaders(header http.Header) {
	if e.Allow != "" {
		header.Set("Allow", e.Allow)
	}
	for _, challenge := range e.Challenge {
		header.Add("WWW-Authenticate", challenge)
	}
	if e.RetryAfter > 0 {
		header.Set("Retry-After", strconv.Itoa(int((e.RetryAfter+time.Second-1)/time.Second)))
	}
	if e.Close {
		header.Set("Connection", "close")
	}
}

// AsError gives the *Error in err's chain, or the one that says what a
// *value.Error there does. Otherwise it wraps err as an internal fault whose text
// tells the caller nothing.
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
	return Errorf(Internal, "internal", "The server failed to handle this request; its log has the cause.").Because(err)
}
