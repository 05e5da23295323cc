package sluice

import (
	"context"
	"encoding/json"
	"time"
)

// An EventQuery selects stored events in the order in which they were stored.
type EventQuery struct {
	Pattern string        // of event keys, see KeyMatches
	After   string        // cursor: start behind this event; "" means behind the newest
	Limit   int           // at most this many
	Wait    time.Duration // how long to wait for the first one
}

// EventLog reads stored events one after the other.
type EventLog interface {
	// After returns the events of a query as JSON, and the cursor behind them.
	// There are none if none came in time. They are on stable storage, so a
	// cursor never skips one. Gone if the cursor is of another store.
	After(ctx context.Context, q EventQuery) (events []json.RawMessage, next string, err error)
}
