package sluice

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"sluice/value"
)

// statusDone is the status code of a result that is no failure: HTTP's OK.
const statusDone = 200

// A Result is what came of a call. Its JSON is the body of a successful
// call and of a ready poll.
type Result struct {
	StatusCode             int             `json:"statusCode" doc:"200, or the status of a failure."`
	Status                 Status          `json:"status" doc:"How far the work has come." enum:"processing,ok,error"`
	Value                  json.RawMessage `json:"value" doc:"What the pipelines made of the call; null until they have."`
	Error                  *Problem        `json:"error,omitempty" doc:"Why it failed."`
	PollingRedirectEnabled bool            `json:"pollingRedirectEnabled" doc:"What the request asked for."`
	CorrelationID          string          `json:"correlationId" doc:"Finds the result, in a poll."`
	TraceID                string          `json:"traceId" doc:"Finds the call, in traces and logs."`
	Created                time.Time       `json:"created" doc:"When the call was accepted."`

	Listeners []string      `json:"-"` // pipelines that the event starts; nil for a duplicate
	Sequence  uint64        `json:"-"` // of the event
	Failed    string        `json:"-"` // the one that Error is of
	Waited    time.Duration `json:"-"` // for pipelines, after the event was stored
	Duplicate bool          `json:"-"` // the delivery was accepted before: this is the first one's result
	Unheard   bool          `json:"-"` // no pipeline listens: the value is the trace information
	Spooled   bool          `json:"-"` // it waits in a spool until the engine is back
	Differs   bool          `json:"-"` // a duplicate with another body than the first one
}

// Accepted is the result of a call that no pipeline listens to: its value is
// the trace information.
func Accepted(traceID, correlationID string, at time.Time) Result {
	r := Processing(traceID, correlationID, at)
	r.Status, r.Unheard = StatusOK, true
	r.Value = value.AppendRecord(nil, &struct {
		Status  string `json:"status"`
		TraceID string `json:"traceId"`
	}{"OK", traceID})
	return r
}

// Processing returns the result of a call that was accepted and is not handled yet.
func Processing(traceID, correlationID string, at time.Time) Result {
	return Result{
		StatusCode: statusDone, Status: StatusProcessing, CorrelationID: correlationID, TraceID: traceID,
		Created: at.UTC(),
	}
}

// Combine returns the result of a call from the outcomes of the pipelines that listen
// to it, by name. A pipeline without an outcome is not done yet. The value of a single
// listener is the result's value; those of several are in an object. One that has passed over the
// call counts as if it did not listen.
func Combine(listeners []string, outcomes map[string]Outcome, traceID, correlationID string, at time.Time) Result {
	r := Processing(traceID, correlationID, at)
	r.Status = StatusOK
	isPassed := func(name string) bool { return outcomes[name].Status == StatusPassed }
	if slices.ContainsFunc(listeners, isPassed) {
		if listeners = slices.DeleteFunc(slices.Clone(listeners), isPassed); len(listeners) == 0 {
			return Accepted(traceID, correlationID, at)
		}
	}
	for _, name := range listeners {
		o, done := outcomes[name]
		switch {
		case !done:
			return Processing(traceID, correlationID, at)
		case o.Status == StatusError && r.Error == nil:
			r.Status, r.Error, r.Failed = StatusError, o.failure(traceID), name
			r.StatusCode = r.Error.StatusCode
		}
	}
	if len(listeners) == 1 {
		r.Value = outcomes[listeners[0]].Value
		return r
	}
	values := make(map[string]json.RawMessage, len(listeners))
	for _, name := range listeners {
		values[name] = outcomes[name].Value
	}
	r.Value = marshal(values)
	return r
}

// AppendJSON appends the result's JSON, the answer to calls and polls.
func (r *Result) AppendJSON(b []byte) []byte { return value.AppendRecord(b, r) }

// Results finds the results of calls.
type Results interface {
	// Result returns the result with that correlation id as soon as it is
	// ready, or as it is after some time of waiting. Gone if there is none or
	// it has expired.
	Result(ctx context.Context, correlationID string, wait time.Duration) (Result, error)
}

// PollInterval is how far apart polls for a result that is not ready must be.
const PollInterval = 5 * time.Second
