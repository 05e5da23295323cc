package sluice

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

// A Code is a stable word for one sort of failure, for programs to compare. All of them are in
// error_codes.go, error_codes_run.go and error_codes_server.go; docs/reference/errors.md is made
// of them and of their comments.
type Code struct {
	Word string
	Kind Kind // what sort of failure it is, unless the error says otherwise
}
