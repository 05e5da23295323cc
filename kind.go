package sluice

import (
	_ "embed"
	"encoding/json"
	"sync"
)

// Kind says what sort of failure an error is. Package problem maps kinds to HTTP
// status codes, cmd/sluice to exit codes.
type Kind string

// The kinds of failure.
const (
	Internal         Kind = ""                   // a fault of ours that has no better name
	Invalid          Kind = "invalid"            // the request is wrong and stays wrong
	Unauthenticated  Kind = "unauthenticated"    // the caller is not known
	Forbidden        Kind = "forbidden"          // the caller is known and not permitted
	NotFound         Kind = "not-found"          // there is no such thing
	MethodNotAllowed Kind = "method-not-allowed" // the thing exists, the method doesn't apply
	Timeout          Kind = "timeout"            // the caller was too slow
	Conflict         Kind = "conflict"           // it clashes with what is stored
	Gone             Kind = "gone"               // it is no longer there
	TooLarge         Kind = "too-large"          // it exceeds a limit on size
	Unsupported      Kind = "unsupported"        // it is in a form we don't accept
	Throttled        Kind = "throttled"          // it comes too often
	Unavailable      Kind = "unavailable"        // we can't do it now; trying again helps
	Loop             Kind = "loop"               // it would cause itself over and over
	Unprocessable    Kind = "unprocessable"      // it is well-formed, but not allowed here
	Outdated         Kind = "outdated"           // it was changed since the caller read it
	HeadTooLarge     Kind = "head-too-large"     // the headers of the request exceed a limit
	Full             Kind = "full"               // there is no room for it; trying again does not help
)

// A Code is a stable word for one sort of failure, for programs to compare. error_codes.json says
// what each means; docs/reference/errors.md is made of that.
type Code string

//go:embed error_codes.json
var codeTable []byte

var kindsOfCodes = sync.OnceValue(func() map[Code]Kind {
	kinds := map[Code]Kind{}
	for _, group := range table[[]struct {
		Codes []struct {
			Code Code
			Kind Kind
		}
	}](codeTable) {
		for _, row := range group.Codes {
			kinds[row.Code] = row.Kind
		}
	}
	return kinds
})

// table returns the rows of a table in JSON that is a part of the program.
func table[T any](text []byte) (rows T) {
	if err := json.Unmarshal(text, &rows); err != nil {
		panic(err)
	}
	return rows
}
