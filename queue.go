package sluice

import (
	"context"
	"encoding/json"
	"time"
)

// A Queue hands events to the pipelines that they start.
type Queue interface {
	// Bind returns a binding for all events accepted from now on. It is on
	// stable storage, and holds until Unbind.
	Bind(ctx context.Context, pattern string, concurrency int) (*Binding, error)

	// Unbind ends a binding of a pipeline. Events no longer wait for it.
	Unbind(ctx context.Context, pipeline string, b *Binding) error

	// Consume hands the events of a pipeline to its handler until ctx ends, and returns
	// when all runs have ended. Each event is handed out, on one node at a time,
	// until its outcome is on stable storage. If Run returns an outcome that is
	// processing, the number of attempts is stored, and the event waits for the
	// next one without a slot of the pipeline, unless order counts. If Run returns
	// an error, that was no attempt: the event is handed out again soon. While the
	// engine can't be reached, Consume keeps trying. A pipeline with a where is asked
	// beforehand with a Peek.
	Consume(ctx context.Context, p *Pipeline, h Handler)
}

// A Handler is what a pipeline does with the events that it gets.
type Handler struct {
	Run func(Delivery) (Outcome, error)

	// Place says what an event waits for before it runs; nil: for nothing.
	Place func(Delivery) Place

	// Supersede returns the outcome of an event that the one with another trace id runs in
	// place of, see Place.Group.
	Supersede func(d Delivery, by string) Outcome
}

// A Place is the place of an event among others of its pipeline.
type Place struct {
	Order uint64 // events with the same number run one after the other, as they came; 0: it has no order

	// Of events with the same number that follow each other within Wait, the last one runs:
	// Wait after it came, or AtMost after the first. 0: it runs by itself.
	Group        uint64
	Wait, AtMost time.Duration
}

// A Delivery is an event that is handed to a pipeline.
type Delivery struct {
	Message       map[string]any // the event, with correlationId and deliveryCount
	TraceID       string
	CorrelationID string // the same at each delivery of the event
	Hops          int    // how many events led to this one
	Count         int    // how often it was delivered, this time included

	Kept Kept // what steps have done once and for all

	Attempts int       // that have failed before
	First    time.Time // when the first of them began; zero if there were none

	// Due is when the next attempt is, if this is a try besides: the target of the event may be
	// back. Such a try is no attempt, unless it ends the waiting. Zero: it is an attempt.
	Due time.Time

	// Peek asks only whether the pipeline passes over the event, before there is a slot for a run.
	// Then the outcome is passed, otherwise it is empty.
	Peek bool
}

// Kept are the outputs of steps that are done once for an event, however often its run begins anew.
// They are kept as long as the event waits.
type Kept interface {
	// Output returns the output of a step, see Run.StepKey; nil if it was not done yet.
	Output(ctx context.Context, step string) (json.RawMessage, error)

	// Keep stores the output of a step. It is on stable storage then.
	Keep(ctx context.Context, step string, output json.RawMessage) error

	// Offer offers work to others, durably, unless a step has done that before, and returns until
	// when that is.
	Offer(ctx context.Context, step string, item WorkItem) (until time.Time, err error)

	// Answer returns what became of the work of a step, nil if that is open, or the event is done.
	Answer(ctx context.Context, step string) (*WorkAnswer, error)
}

// MaxKept is how many bytes of JSON such an output has at most.
const MaxKept = 1 << 20

// NoListener is the error of a pipeline that is not there, or listens to nothing.
func NoListener(name string) *Error {
	return CodePipelineUnknown.Errorf("No pipeline of the name %s listens to events.", name)
}

// WaitingEvents are the events that wait for another attempt of a pipeline.
type WaitingEvents interface {
	// Retry makes those of a query due now, and returns how many.
	Retry(q RetryQuery) int
}

// A RetryQuery selects events that wait for another attempt.
type RetryQuery struct {
	Pipeline string    // empty means any
	TraceID  string    // empty means any
	Code     string    // of the last attempt's error; empty means any
	Since    time.Time // when the first attempt began; zero means any time
	DryRun   bool      // only counts them
	Cover    Cover     // only events of pipelines within it
}
