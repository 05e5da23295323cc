package spool

import (
	"time"
)

// A Call waits in a spool. Its JSON is the header that a store writes before the event.
type Call struct {
	Subject string `json:"-"` // among events

	// ID names the batch that may already have stored the call, and Place is the
	// call's place in it. ID is empty if no batch can have.
	ID    string `json:"id,omitempty"`
	Place uint64 `json:"place,omitempty"`

	// Window is how long a repetition of the call's delivery counts.
	Window time.Duration `json:"window,omitempty"`

	Event []byte `json:"-"` // its JSON

	place uint64 // in the store
}

// overhead is about what the engine and the header add to each event.
const overhead = 256
