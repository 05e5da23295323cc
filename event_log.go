package sluice

import (
	"context"
	"encoding/json"
	"time"
)

// Events takes events to stable storage.
type Events interface {
	// Accept stores an event, with the names of the pipelines that listen to it,
	// and waits for their outcomes, at most that long. It returns once the event
	// is on stable storage. The result has the listeners; the event itself stays
	// unchanged. After an error of kind Unavailable the event may be stored or not.
	//
	// An event whose Fingerprint was accepted before, within its window, is not
	// stored: the result is that of the first one, and a Duplicate.
	Accept(ctx context.Context, e *Event, wait time.Duration) (Result, error)
}

// An EventQuery selects stored events in the order in which they were stored.
type EventQuery struct {
	Pattern string        // of event keys, see KeyMatches
	Type    string        // of the events, see TypeMatches; empty means any
	After   string        // cursor: start behind this event; "" means behind the newest
	Limit   int           // at most this many
	Wait    time.Duration // how long to wait for the first one
	Cover   Cover         // events outside of it are not there
}

// StoredEvents returns events that are on stable storage, as JSON.
type StoredEvents interface {
	// Newest returns the newest event with that key, nil if there is none.
	Newest(ctx context.Context, eventKey string) (json.RawMessage, error)
	// Next waits for an event with that key, until ctx ends: then it is nil.
	Next(ctx context.Context, eventKey string) (json.RawMessage, error)
	// After returns the events of a query, and the cursor behind them. There are none if none came
	// in time. A cursor never skips one. Gone if the cursor is of another store.
	After(ctx context.Context, q EventQuery) (events []json.RawMessage, next string, err error)
}
