package sluice

import (
	"context"
	"encoding/json"
	"iter"
)

// A TailQuery selects what a tail reports.
type TailQuery struct {
	TraceID  string // a whole one, or the part before the colon; empty means any
	EventKey string // empty means any
	Type     string // of the event, see TypeMatches; empty means any
	After    string // the position behind which to start; empty means now

	Cover Cover // calls and runs outside of it are not reported

	// Known is where entries have correlation ids: results can be read with them, so
	// they are for users who may see payloads.
	Known Cover
}

// A TailEntry is a call or a run that a tail reports.
type TailEntry struct {
	Position string          `json:"-"`    // where a resumed tail goes on
	Past     bool            `json:"-"`    // it was before the tail began
	Type     string          `json:"type"` // call or run
	Data     json.RawMessage `json:"data"` // Call or RunReport
}

// A Tail reports calls and runs as they happen, on whichever node.
type Tail interface {
	// Follow returns what happens, until ctx ends or the tail fails, which is
	// its last entry. Invalid if the position to start behind is malformed.
	Follow(ctx context.Context, q TailQuery) (iter.Seq2[TailEntry, error], error)
}

// How many tails are open at the same time, of the API and of the portal each.
const (
	MaxTails        = 64
	MaxTailsPerUser = 8 // so that nobody takes all
)
