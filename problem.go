package sluice

import (
	"net/http"
	"strings"
)

// A Problem is an error as callers see it (RFC 9457): the body of an answer, or
// a part of the result of a pipeline that failed.
type Problem struct {
	Type       string `json:"type"`
	Title      string `json:"title"`
	Status     int    `json:"status"`
	Detail     string `json:"detail"`
	Code       string `json:"code"`
	StatusCode int    `json:"statusCode"`
	TraceID    string `json:"traceId,omitempty"`
	Parameter  string `json:"parameter,omitempty"`
	Line       int    `json:"line,omitempty"`
	Column     int    `json:"column,omitempty"`
	Snippet    string `json:"snippet,omitempty"`
	Step       string `json:"step,omitempty"`
}

// statusOf is the one place that maps kinds of failure to HTTP.
var statusOf = map[Kind]int{
	Internal:         http.StatusInternalServerError,
	Invalid:          http.StatusBadRequest,
	Unauthenticated:  http.StatusUnauthorized,
	Forbidden:        http.StatusForbidden,
	NotFound:         http.StatusNotFound,
	MethodNotAllowed: http.StatusMethodNotAllowed,
	Timeout:          http.StatusRequestTimeout,
	Conflict:         http.StatusConflict,
	Gone:             http.StatusGone,
	TooLarge:         http.StatusRequestEntityTooLarge,
	Unsupported:      http.StatusUnsupportedMediaType,
	Throttled:        http.StatusTooManyRequests,
	Unavailable:      http.StatusServiceUnavailable,
}

// StatusCode gives the HTTP status of the error: that of its kind, unless it has
// one of its own.
func (e *Error) StatusCode() int {
	if e.Status != 0 {
		return e.Status
	}
	return statusOf[e.Kind]
}

// Problem gives the error as callers see it.
func (e *Error) Problem() Problem {
	status := e.StatusCode()
	return Problem{
		Type:       "urn:sluice:problem:" + e.Code,
		Title:      title(e.Code),
		Status:     status,
		Detail:     e.Message,
		Code:       e.Code,
		StatusCode: status,
		TraceID:    e.TraceID,
		Parameter:  e.Parameter,
		Line:       e.Place.Line,
		Column:     e.Place.Column,
		Snippet:    e.Place.Snippet,
		Step:       e.Place.Step,
	}
}

// title gives a code in words.
func title(code string) string {
	words := strings.NewReplacer("-", " ", "_", " ").Replace(code)
	return strings.ToUpper(words[:1]) + words[1:]
}
