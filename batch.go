package sluice

import (
	"context"
	"slices"

	"sluice/value"
)

// MaxItems is how many events one call may bring.
const MaxItems = 1000

// A Batch is a call that brings several events, as its webhook's setting split says.
type Batch struct {
	Call  *Event   // the call itself, without its payload: it is no event, and starts no pipeline
	Items []*Event // in the order of the call
}

// Batches takes calls that bring several events to stable storage.
type Batches interface {
	// AcceptBatch stores a call with all of its events, or nothing. Events whose Fingerprint
	// was accepted before, or that the call has twice, are left out. It returns once the rest is
	// on stable storage, and waits for no pipeline. The value of the result says how many events
	// there are; stored are those, with their sequences and listeners. After an error of kind
	// Unavailable all of them may be stored or none.
	AcceptBatch(ctx context.Context, b Batch) (result Result, stored []StoredItem, err error)
}

// A StoredItem is an event of a call that has brought several.
type StoredItem struct {
	*Event

	CorrelationID string
}

// An Item says which of several events of a call an event is.
type Item struct {
	TraceID string `json:"traceId" doc:"Of the call."`
	Index   int    `json:"index" doc:"Its place in the call, from 0."`
	Count   int    `json:"count" doc:"How many the call has."`
}

// A Split says what became of a call that brought several events.
type Split struct {
	Events     int `json:"events" doc:"Events that it made."`
	Duplicates int `json:"duplicates" doc:"Events that were there already."`
}

// Number gives the call and its events what they say of each other.
func (b Batch) Number() {
	for i, e := range b.Items {
		e.TraceID = ItemTraceID(b.Call.TraceID, i)
		e.Batch = &Item{b.Call.TraceID, i, len(b.Items)}
	}
	b.Call.Split = &Split{Events: len(b.Items)}
}

// Without returns the batch without events that were there already.
func (b Batch) Without(known func(e *Event) bool) Batch {
	call := *b.Call
	fresh := slices.DeleteFunc(slices.Clone(b.Items), known)
	call.Split = &Split{len(fresh), call.Split.Duplicates + len(b.Items) - len(fresh)}
	return Batch{&call, fresh}
}

// Result returns what a call that brought several events is answered with.
func (s *Split) Result(r Result) Result {
	r.Status, r.Value, r.Unheard = StatusOK, value.AppendRecord(nil, s), false
	return r
}
