package sluice

import (
	"context"
	"encoding/json"
	"iter"
	"time"
)

// A TraceQuery selects calls, newest first, for a search.
type TraceQuery struct {
	TraceID  string    // a whole one, or the part before the colon; empty means any
	EventKey string    // empty means any
	Pipeline string    // that the event was handed to, or that a user ran; empty means any
	Status   Status    // empty means any
	Code     string    // of the refusal, or of the error of a run; empty means any
	From, To time.Time // zero means unbounded
	Limit    int
	Before   string // cursor: where the page before it ended

	// Text must be in the call, in any case: in its keys, its trace id, its address
	// or its error; where the call is in Known, also in its correlation id and, with
	// InPayload, in its payload.
	Text      string
	InPayload bool

	OnlyPayload bool // the text must be in the payload, and nowhere else

	Cover Cover // calls and runs outside of it are not there
	Known Cover // of calls within it, the user may see what was sent
}

// Journal searches calls, as far back as events are kept.
type Journal interface {
	// Calls returns the calls of a query, and the cursor behind them if there
	// may be more. A call is found as soon as it was answered.
	Calls(ctx context.Context, q TraceQuery) (calls []Call, next string, err error)

	// Reached returns how far back the search that ended with a cursor has looked.
	Reached(ctx context.Context, cursor string) (time.Time, error)

	// Event returns the event that a correlation id leads to, Gone if it is not
	// kept any more.
	Event(ctx context.Context, correlationID string) (Event, error)
}

// A TailQuery selects what a tail reports.
type TailQuery struct {
	TraceID  string // a whole one, or the part before the colon; empty means any
	EventKey string // empty means any
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

// An Erasure says that a call was erased: its payload, its headers and its results are gone.
type Erasure struct {
	TraceID    string    `json:"traceId" doc:"Of the call."`
	EventKey   string    `json:"eventKey,omitempty" doc:"Of its webhook."`
	Time       time.Time `json:"time" doc:"When it came."`
	Erased     time.Time `json:"erased,omitzero" doc:"When it was erased."`
	Quarantine string    `json:"quarantine,omitempty" doc:"Id that it had in the quarantine."`
	Events     []uint64  `json:"events,omitempty" doc:"Places of its events in their stream, by which a restore finds them."`
}

// Erasures erase calls.
type Erasures interface {
	// Erase removes the payloads, headers and results of calls from all that is stored,
	// durably, and overwrites them on disk. It keeps the erasures.
	Erase(ctx context.Context, calls []Call) error

	// Apply erases what earlier erasures have erased, as far as it is there.
	Apply(ctx context.Context, erasures []Erasure) error

	// List returns all erasures, the oldest first.
	List() []Erasure
}
