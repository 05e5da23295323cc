package sluice

import (
	"context"
	"encoding/json"
	"iter"
	"time"
)

// StatusRejected is the status of a call that was refused: there is no event of
// it.
const StatusRejected Status = "rejected"

// A TracedCall is a call as it is found again, or an event or message that a
// pipeline or a user has sent.
type TracedCall struct {
	TraceID       string      `json:"traceId"`
	CorrelationID string      `json:"correlationId,omitempty"` // of an accepted one
	EventKey      string      `json:"eventKey,omitempty"`      // where the webhook is known
	Key           string      `json:"key,omitempty"`           // of a message that is no event
	ReplayOf      string      `json:"replayOf,omitempty"`      // trace id of the event it repeats
	Time          time.Time   `json:"time"`
	Status        Status      `json:"status"`               // by its runs; ok if nobody listens
	StatusCode    int         `json:"statusCode,omitempty"` // of the HTTP answer
	Code          string      `json:"code,omitempty"`       // of the refusal
	Size          int         `json:"size"`                 // of the body, in bytes
	Duration      float64     `json:"duration"`             // until the answer, in milliseconds
	RemoteAddr    string      `json:"remoteAddr,omitempty"`
	Count         int         `json:"count,omitempty"` // calls that this stands for, if it is more than one
	Runs          []TracedRun `json:"runs"`            // in the order in which they began
}

// A TracedRun is one attempt of a pipeline to handle a call.
type TracedRun struct {
	Pipeline string       `json:"pipeline"` // empty for one that is not stored
	Status   Status       `json:"status"`
	Attempt  int          `json:"attempt"`
	Delivery int          `json:"delivery"`
	Started  time.Time    `json:"started"`
	Duration float64      `json:"duration"` // in milliseconds
	Error    *Problem     `json:"error,omitempty"`
	Steps    []TracedStep `json:"steps"`
}

// A TracedStep is one step of a run.
type TracedStep struct {
	Command  string  `json:"command"`
	ID       string  `json:"id,omitempty"`
	Line     int     `json:"line"`
	Started  float64 `json:"started"`  // after the start of the run, in milliseconds
	Duration float64 `json:"duration"` // in milliseconds
	Status   Status  `json:"status"`
	Code     string  `json:"code,omitempty"` // of the error
}

// Traced gives a report as it is shown.
func (r *RunReport) Traced() TracedRun {
	run := TracedRun{
		Pipeline: r.Pipeline,
		Status:   r.Status,
		Attempt:  r.Attempt,
		Delivery: r.Delivery,
		Started:  r.Started.UTC(),
		Duration: milliseconds(r.Duration),
		Error:    r.Error,
		Steps:    make([]TracedStep, len(r.Steps)),
	}
	for i, s := range r.Steps {
		run.Steps[i] = TracedStep{s.Command, s.ID, s.Line, milliseconds(s.Started), milliseconds(s.Duration), s.Status, s.Code}
	}
	return run
}

// Traced gives a call as it is shown, without what pipelines made of it.
func (c *Call) Traced() TracedCall {
	t := TracedCall{
		TraceID:       c.TraceID,
		CorrelationID: c.CorrelationID,
		EventKey:      c.EventKey,
		Time:          c.Time.UTC(),
		Status:        StatusOK,
		StatusCode:    c.Status,
		Code:          c.Code,
		Size:          c.Size,
		Duration:      milliseconds(c.Duration),
		RemoteAddr:    c.RemoteAddr,
		Count:         c.Count,
		Runs:          []TracedRun{},
	}
	switch {
	case c.CorrelationID == "":
		t.Status = StatusRejected
	case len(c.Listeners) > 0:
		t.Status = StatusProcessing
	}
	return t
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond)) / float64(time.Millisecond)
}

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
	Calls(ctx context.Context, q TraceQuery) (calls []TracedCall, next string, err error)

	// Event gives the event that a correlation id leads to, Gone if it is not
	// kept any more.
	Event(ctx context.Context, correlationID string) (Event, error)
}

// A TailQuery says what a tail is about.
type TailQuery struct {
	TraceID  string // a whole one, or the part before the colon; empty means any
	EventKey string // empty means any
	After    string // the position behind which to start; empty means now
}

// A Happening is a call or a run that a tail tells of.
type Happening struct {
	Position string // goes on behind this one, when a tail is resumed
	Past     bool   // it was before the tail began
	Type     string // call or run
	Data     json.RawMessage
}

// A Tail tells of calls and runs as they happen, on whichever node.
type Tail interface {
	// Follow gives what happens, until ctx ends or the tail fails, which is
	// the last it tells. Invalid if the position to start behind is none.
	Follow(ctx context.Context, q TailQuery) (iter.Seq2[Happening, error], error)
}
