package sluice

import (
	"cmp"
	"encoding/json"
	"time"
)

// An Outcome is what a pipeline has made of an event.
type Outcome struct {
	Pipeline   string          `json:"pipeline"`
	Status     Status          `json:"status"` // ok or error; processing: this attempt failed, and another is due
	StatusCode int             `json:"statusCode"`
	Value      json.RawMessage `json:"value,omitempty"`
	Error      *Problem        `json:"error,omitempty"`
	Said       *Said           `json:"said,omitempty"` // what the caller may know of the error
	Attempts   int             `json:"attempts"`
	Finished   time.Time       `json:"finished"`
	Sent       []uint64        `json:"sent,omitempty"` // sequences of the events that the run has sent
	Work       []WorkDone      `json:"work,omitempty"` // with whose answers the run went on

	Stored uint64 `json:"-"` // the outcome's own sequence

	// If it is processing, when another attempt is due, and the target that the event waits
	// for: it follows when that is back. If it fails again then, the next try for that target
	// comes after Pause.
	Next   time.Time     `json:"-"`
	Target Target        `json:"-"`
	Pause  time.Duration `json:"-"`

	Reached []Target `json:"-"` // that the run has found in order

	// Answered says that the run left its place, which is no attempt: the event waits for an
	// answer from outside, or until Next. It is called when that is durable. If it
	// returns true, the answer is there already, and the event is due.
	Answered func() bool `json:"-"`
}

// failure is what the caller of a webhook is told of a failed run: what the author of
// the pipeline says to callers, and nothing of the inside.
func (o *Outcome) failure(traceID string) *Problem {
	p := &Problem{
		Title: "The call could not be handled",
		Detail: "The call was taken, and could not be handled; the operator of the service finds the cause by the " +
			"trace id.",
		Status: 500, Code: string(CodePipelineFailed), TraceID: traceID,
	}
	if said := o.Said; said != nil {
		p.Detail = said.Message
		p.Status, p.Code = cmp.Or(said.StatusCode, p.Status), cmp.Or(said.Code, p.Code)
	}
	p.Type, p.StatusCode = "urn:sluice:problem:"+p.Code, p.Status
	return p
}
