package sluice

import (
	"context"
	"time"
)

// An Erasure says that a call is to be erased, or was: then its payload, its headers and its
// results are gone. Asked for, it goes on by itself until then.
type Erasure struct {
	TraceID     string    `json:"traceId" doc:"Of the call."`
	EventKey    string    `json:"eventKey,omitempty" doc:"Of its webhook."`
	Time        time.Time `json:"time" doc:"When it came."`
	Asked       time.Time `json:"asked,omitzero" doc:"When its erasure was asked for."`
	Erased      time.Time `json:"erased,omitzero" doc:"When everything of it was gone; not there before."`
	Quarantine  string    `json:"quarantine,omitempty" doc:"Id that it had in the quarantine."`
	Quarantined []string  `json:"quarantined,omitempty" doc:"Ids of calls in the quarantine that had its delivery id and another body."`
	Events      []uint64  `json:"events,omitempty" doc:"Places of its events in their stream, by which a restore finds them."`
}

// Erased tells which calls were erased.
type Erased struct {
	Erased int `json:"erased" doc:"How many calls were erased."`
	Bulk
}

// Erasures erase calls.
type Erasures interface {
	// Erase removes the payloads, headers and results of calls from all that is stored,
	// durably, and overwrites them on disk. It keeps the erasures. What fails goes on by
	// itself, also after a kill.
	Erase(ctx context.Context, calls []Call) error

	// Apply erases what earlier erasures have erased, as far as it is there.
	Apply(ctx context.Context, erasures []Erasure) error

	// List returns all erasures.
	List() []Erasure
}
