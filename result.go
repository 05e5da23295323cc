package sluice

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"time"
)

// Status is how far the work on a call has come.
type Status string

// How far the work can have come.
const (
	StatusProcessing Status = "processing" // it is not done yet
	StatusOK         Status = "ok"         // it is done, and Value is its result
	StatusError      Status = "error"      // it failed for good, and Error says why
)

// statusDone is the status code of a result that is no failure: HTTP's OK.
const statusDone = 200

// A Result is what came of a call. Its JSON is the body of a successful
// call and of a ready poll.
type Result struct {
	StatusCode             int             `json:"statusCode"`
	Status                 Status          `json:"status"`
	Value                  json.RawMessage `json:"value"`
	Error                  *Problem        `json:"error,omitempty"`
	PollingRedirectEnabled bool            `json:"pollingRedirectEnabled"`
	CorrelationID          string          `json:"correlationId"`
	TraceID                string          `json:"traceId"`
	Created                time.Time       `json:"created"`

	Waited    time.Duration `json:"-"` // for pipelines, after the event was stored
	Duplicate bool          `json:"-"` // the delivery was accepted before: this is the first one's result
	Spooled   bool          `json:"-"` // it waits in a spool until the engine is back
	Differs   bool          `json:"-"` // a duplicate with another body than the first one
}

// Accepted is the result of a call that no pipeline listens to: its value is
// the trace information.
func Accepted(traceID, correlationID string, at time.Time) Result {
	value := append(make([]byte, 0, 64), `{"status":"OK"`...)
	value = appendField(value, `,"traceId":`, traceID)
	return Result{
		StatusCode:    statusDone,
		Status:        StatusOK,
		Value:         append(value, '}'),
		CorrelationID: correlationID,
		TraceID:       traceID,
		Created:       at.UTC(),
	}
}

// Processing returns the result of a call that was taken and of which nothing more
// is known yet.
func Processing(traceID, correlationID string, at time.Time) Result {
	return Result{StatusCode: statusDone, Status: StatusProcessing, CorrelationID: correlationID, TraceID: traceID, Created: at.UTC()}
}

// Combine returns the result of a call from the outcomes of the pipelines that
// listen to it, by their names; one that is missing is not done yet. The value
// of a single listener stands for itself, those of several are in an object.
func Combine(listeners []string, outcomes map[string]Outcome, traceID, correlationID string, at time.Time) Result {
	r := Result{
		StatusCode:    statusDone,
		Status:        StatusOK,
		CorrelationID: correlationID,
		TraceID:       traceID,
		Created:       at.UTC(),
	}
	for _, name := range listeners {
		o, done := outcomes[name]
		switch {
		case !done:
			r.StatusCode, r.Status, r.Value, r.Error = statusDone, StatusProcessing, nil, nil
			return r
		case o.Status == StatusError && r.Error == nil:
			r.StatusCode, r.Status, r.Error = o.StatusCode, StatusError, o.Error
		}
	}
	if len(listeners) == 1 {
		r.Value = outcomes[listeners[0]].Value
		return r
	}
	for i, name := range listeners {
		r.Value = appendKey(append(r.Value, "{,"[min(i, 1)]), 0, name)
		r.Value = appendValue(r.Value, outcomes[name].Value)
	}
	r.Value = append(r.Value, '}')
	return r
}

func appendValue(b []byte, value json.RawMessage) []byte {
	if value == nil {
		return append(b, "null"...)
	}
	return append(b, value...)
}

// AppendJSON appends the result's JSON, with which calls and polls are answered:
// what encoding/json would write, without the escapes that only HTML needs.
func (r *Result) AppendJSON(b []byte) []byte {
	b = append(b, `{"statusCode":`...)
	b = strconv.AppendInt(b, int64(r.StatusCode), 10)
	b = appendField(b, `,"status":`, string(r.Status))
	b = append(b, `,"value":`...)
	b = appendValue(b, r.Value)
	if r.Error != nil {
		b = append(b, `,"error":`...)
		b = appendJSON(b, r.Error)
	}
	b = append(b, `,"pollingRedirectEnabled":`...)
	b = strconv.AppendBool(b, r.PollingRedirectEnabled)
	b = appendField(b, `,"correlationId":`, r.CorrelationID)
	b = appendField(b, `,"traceId":`, r.TraceID)
	b = append(b, `,"created":"`...)
	b = r.Created.AppendFormat(b, time.RFC3339Nano)
	return append(b, `"}`...)
}

// appendJSON appends what encoding/json makes of a value that has a JSON form,
// without escaping for HTML.
func appendJSON(b []byte, value any) []byte {
	text := bytes.NewBuffer(b)
	enc := json.NewEncoder(text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		panic(err) // none of our values
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}

// Results finds the results of calls.
type Results interface {
	// Result returns the result with that correlation id as soon as it is
	// ready, or as it is after some time of waiting. Gone if there is none or
	// it has expired.
	Result(ctx context.Context, correlationID string, wait time.Duration) (Result, error)
}
