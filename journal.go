package sluice

import (
	"context"
	"iter"
	"time"
)

// A TraceQuery selects calls, newest first, for a search.
type TraceQuery struct {
	TraceID  string    // a whole one, or the part before the colon; empty means any
	EventKey string    // empty means any
	Type     string    // of the event, see TypeMatches; empty means any
	Pipeline string    // that the event was handed to, or that a user ran; empty means any
	Status   Status    // empty means any
	Code     string    // of the refusal, or of the error of a run; empty means any
	From, To time.Time // zero means unbounded
	Calls    bool      // no events that were sent within the house
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

	// Former returns the runs, each in a call of its own, and the rejected calls of earlier processes: those that
	// were written down at a time or later, and some before. An event that a pipeline did not want has a run.
	Former(ctx context.Context, since time.Time) iter.Seq2[Call, error]

	// Event returns the event that a correlation id leads to, Gone if it is not
	// kept any more.
	Event(ctx context.Context, correlationID string) (Event, error)

	// Sent returns an event that a run of a call has sent, by its sequence, and its correlation id; Gone if
	// it is not kept any more.
	Sent(ctx context.Context, traceID string, sequence uint64) (Event, string, error)
}
