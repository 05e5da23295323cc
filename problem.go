package sluice

// A Problem is an error as callers see it (RFC 9457): the body of an answer, or
// a part of the result of a failed pipeline. Package problem makes them.
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
	Errors     any    `json:"errors,omitempty"`
}
