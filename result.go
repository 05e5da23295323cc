package sluice

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// Status is how far the task behind a call has come.
type Status string

// StatusOK says that the task is done and Value is its result.
const StatusOK Status = "ok"

// A Result is what a call has come to. Its JSON is the body of a successful
// call and of a ready poll.
type Result struct {
	StatusCode             int             `json:"statusCode"`
	Status                 Status          `json:"status"`
	Value                  json.RawMessage `json:"value"`
	PollingRedirectEnabled bool            `json:"pollingRedirectEnabled"`
	CorrelationID          string          `json:"correlationId"`
	TraceID                string          `json:"traceId"`
	Created                time.Time       `json:"created"`
}

// Accepted is the result of a call that no pipeline listens to: its value is
// the trace information.
func Accepted(traceID, correlationID string, at time.Time) Result {
	value := append(make([]byte, 0, 64), `{"status":"OK"`...)
	value = appendField(value, `,"traceId":`, traceID)
	return Result{
		StatusCode:    http.StatusOK,
		Status:        StatusOK,
		Value:         append(value, '}'),
		CorrelationID: correlationID,
		TraceID:       traceID,
		Created:       at.UTC(),
	}
}

// AppendJSON appends the result's JSON, as encoding/json would write it.
func (r *Result) AppendJSON(b []byte) []byte {
	b = append(b, `{"statusCode":`...)
	b = strconv.AppendInt(b, int64(r.StatusCode), 10)
	b = appendField(b, `,"status":`, string(r.Status))
	b = append(b, `,"value":`...)
	b = append(b, r.Value...)
	b = append(b, `,"pollingRedirectEnabled":`...)
	b = strconv.AppendBool(b, r.PollingRedirectEnabled)
	b = appendField(b, `,"correlationId":`, r.CorrelationID)
	b = appendField(b, `,"traceId":`, r.TraceID)
	b = append(b, `,"created":"`...)
	b = r.Created.AppendFormat(b, time.RFC3339Nano)
	return append(b, `"}`...)
}

// Results finds what calls have come to.
type Results interface {
	// Result gives the result with that correlation id, Gone if there is
	// none or it has expired.
	Result(ctx context.Context, correlationID string) (Result, error)
}
