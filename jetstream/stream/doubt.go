package stream

import (
	"errors"
)

// A DoubtError is the error of a message that may be stored, but was not acknowledged.
type DoubtError struct {
	ID    string // of the batch
	Place uint64 // in the batch

	cause error
}

// Error implements error.
func (d *DoubtError) Error() string { return "not acknowledged: " + d.cause.Error() }

// Unwrap returns what kept the acknowledgement away.
func (d *DoubtError) Unwrap() error { return d.cause }

// abandoned stands for the doubt of a publication whose caller left before it was sent.
var abandoned = new(DoubtError)

var (
	errFull   = errors.New("too many calls are waiting for the engine")
	errUnsent = errors.New("the engine took nothing in time")
)
