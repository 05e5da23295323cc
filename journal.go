package sluice

import (
	"context"
	"encoding/json"
	"iter"
	"time"
)

// A TraceQuery selects calls, newest first.
type TraceQuery struct {
	TraceID  string    // a whole one, or the part before the colon; empty means any
	EventKey string    // empty means any
	Pipeline string    // that the event was handed to, or that a user ran; empty means any
	Status   Status    // empty means any
	From, To time.Time // zero means unbounded
	Limit    int
	Before   string // cursor: where the page before ended
}

// Journal knows every call there was, as long as events are kept.
type Journal interface {
	// Calls gives the calls of a query, and the cursor behind them if there
	// may be more. A call is found as soon as it was answered.
	Calls(ctx context.Context, q TraceQuery) (calls []Call, next string, err error)

	// Event gives the event that a correlation id leads to, Gone if it is not
	// kept any more.
	Event(ctx context.Context, correlationID string) (Event, error)
}

// A TailQuery says what a tail is about.
type TailQuery struct {
	TraceID  string // a whole one, or the part before the colon; empty means any
	EventKey string // empty means any
	After    string // the position behind which to start; empty means now

	// CorrelationIDs tells whether entries have them: results can be read
	// with them, so they are for who may see payloads.
	CorrelationIDs bool
}

// A TailEntry is a call or a run that a tail tells of.
type TailEntry struct {
	Position string          `json:"-"`    // goes on behind this one, when a tail is resumed
	Past     bool            `json:"-"`    // it was before the tail began
	Type     string          `json:"type"` // call or run
	Data     json.RawMessage `json:"data"` // Call or RunReport
}

// A Tail tells of calls and runs as they happen, on whichever node.
type Tail interface {
	// Follow gives what happens, until ctx ends or the tail fails, which is
	// the last it tells. Invalid if the position to start behind is none.
	Follow(ctx context.Context, q TailQuery) (iter.Seq2[TailEntry, error], error)
}
