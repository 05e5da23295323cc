package sluice

import (
	"context"
	"encoding/json"
	"time"
)

// A WorkItem is what a step of a pipeline waits for somebody outside to do.
type WorkItem struct {
	Lease    string          `json:"lease,omitempty" doc:"What work.done, work.fail and work.extend want; only its taker sees it."`
	Queue    string          `json:"queue" doc:"Where it waits."`
	TraceID  string          `json:"traceId" doc:"Of the call that led to it."`
	EventKey string          `json:"eventKey,omitempty" doc:"Of the event that led to it."`
	Pipeline string          `json:"pipeline" doc:"The pipeline that waits for it."`
	Input    json.RawMessage `json:"input,omitempty" doc:"What to work on; only its taker sees it."`
	Attempt  int             `json:"attempt" doc:"How often it was taken."`
	Since    time.Time       `json:"since" doc:"When it was first offered."`
	Taker    string          `json:"taker,omitempty" doc:"Who has it."`
	Expires  time.Time       `json:"expires,omitzero" doc:"When the lease is over, or when it is offered again."`
	Until    time.Time       `json:"until" doc:"When the step fails with work-expired."`
}

// A WorkQueue is how much work waits under a name.
type WorkQueue struct {
	Queue    string     `json:"queue" doc:"Its name."`
	Waiting  int        `json:"waiting" doc:"What nobody has taken."`
	Taken    int        `json:"taken" doc:"What somebody has, or put off."`
	Oldest   *time.Time `json:"oldest,omitempty" doc:"Since when the oldest of all waits."`
	Pipeline string     `json:"pipeline,omitempty" doc:"Of the oldest."`
	Late     bool       `json:"late,omitempty" doc:"The oldest has waited for more than half of its time."`
}

// A WorkAnswer is what becomes of work that was taken: a value, an error, or another offer.
type WorkAnswer struct {
	Value   json.RawMessage `json:"value,omitempty"`
	Message string          `json:"message,omitempty"` // of an error
	Status  int             `json:"status,omitempty"`  // of an error; 0: there is none
	Again   time.Time       `json:"-"`                 // it is offered again then; zero: it is not
}

// Work is what waits for somebody outside. Everything is on stable storage when a method returns,
// and each item has one taker at a time, on all nodes.
type Work interface {
	// Take takes the oldest items of a queue, for a taker and as long as a lease lasts. It waits
	// for the first one until ctx ends: then there are none.
	Take(ctx context.Context, queue, taker string, limit int, lease time.Duration) ([]WorkItem, error)

	// Answer ends a lease on an item whose queue may be answered. The same answer again is none; Gone
	// if the lease is over, or was ended with another answer.
	Answer(ctx context.Context, lease string, answer WorkAnswer, may MayQueue) error

	// Extend makes a lease on an item last from now on, if that may be done in its queue; Gone if it is over.
	Extend(ctx context.Context, lease string, lasts time.Duration, may MayQueue) (expires time.Time, err error)

	// Items returns the items of a queue, oldest first, without their inputs.
	Items(queue string, limit int) []WorkItem

	// Queues returns all queues that have items, by name.
	Queues() []WorkQueue
}

// MayQueue returns the error of somebody who has nothing to do with a queue, nil for others.
type MayQueue func(queue string) error

// A WorkDone is work of an event, with whose answer its run went on.
type WorkDone struct {
	Lease  string `json:"lease"` // what tells it from others on the item
	Queue  string `json:"queue"`
	Answer []byte `json:"answer"` // its hash, with a key made of the event
}

// WaitsError is the error of a step whose run leaves its place: the event waits for an answer.
type WaitsError struct {
	Until    time.Time
	Answered func() bool // the answer is there
}

// Error implements error.
func (*WaitsError) Error() string { return "the run waits for an answer" }
