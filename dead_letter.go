package sluice

import (
	"context"
	"encoding/json"
	"time"
)

// A DeadLetter is an event that a pipeline failed on for good.
type DeadLetter struct {
	Letter        string          `json:"letter" doc:"Its id, for deadletter.replay and deadletter.delete."`
	Pipeline      string          `json:"pipeline" doc:"The pipeline that failed."`
	TraceID       string          `json:"traceId" doc:"Of the call."`
	CorrelationID string          `json:"correlationId,omitempty" doc:"Of the call, for users who may see payloads."`
	EventKey      string          `json:"eventKey,omitempty" doc:"Of the event."`
	Error         Problem         `json:"error" doc:"Why the last attempt failed."`
	Attempts      int             `json:"attempts" doc:"How often the pipeline tried."`
	Time          time.Time       `json:"time" doc:"When it gave up."`
	EventCut      bool            `json:"eventCut,omitempty" doc:"The event was too large to be kept in the letter."`
	Event         json.RawMessage `json:"event,omitempty" doc:"The event, if one letter was asked for, for users who may see payloads."`
}

// A DeadLetterQuery selects dead letters, newest first.
type DeadLetterQuery struct {
	Letter   string    // this one only
	Pipeline string    // empty means any
	Code     string    // of the error; empty means any
	From, To time.Time // zero means unbounded
	Oldest   bool      // the oldest first
	Limit    int
	Before   string // cursor: where the page before it ended
	Cover    Cover  // letters whose pipeline or event is outside of it are not there
}

// Covers reports whether a letter is there.
func (q *DeadLetterQuery) Covers(l *DeadLetter) bool {
	return q.Cover.Name(l.Pipeline) && (q.Cover.Whole() || l.EventKey != "" && q.Cover.Event(l.EventKey))
}

// A DeadLetterGroup counts the dead letters of a pipeline that have the same error.
type DeadLetterGroup struct {
	Pipeline string    `json:"pipeline" doc:"The pipeline that failed."`
	Code     string    `json:"code" doc:"Of the error."`
	Count    int       `json:"count" doc:"How many there are."`
	First    time.Time `json:"first" doc:"Time of the oldest."`
	Last     time.Time `json:"last" doc:"Time of the newest."`
}

// DeadLetters keeps the events that pipelines failed on.
type DeadLetters interface {
	// Letters returns the dead letters of a query, and the cursor behind them
	// if there may be more.
	Letters(ctx context.Context, q DeadLetterQuery) (letters []DeadLetter, next string, err error)

	// Groups counts the dead letters of a query by pipeline and error, the
	// largest group first.
	Groups(ctx context.Context, q DeadLetterQuery) ([]DeadLetterGroup, error)

	// Drop deletes a dead letter, NotFound if there is none.
	Drop(ctx context.Context, letter string) error
}
