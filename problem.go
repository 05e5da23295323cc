package sluice

// A Problem is an error as callers see it (RFC 9457): the body of an answer, or
// a part of the result of a failed pipeline. Package problem makes them.
type Problem struct {
	Type       string `json:"type" doc:"Name of the kind of problem."`
	Title      string `json:"title" doc:"The status in words."`
	Status     int    `json:"status" doc:"The HTTP status."`
	Detail     string `json:"detail" doc:"What went wrong, and what to do next."`
	Code       string `json:"code" doc:"A stable word for it, such as payload-too-large."`
	StatusCode int    `json:"statusCode" doc:"The HTTP status once more."`
	TraceID    string `json:"traceId,omitempty" doc:"The call that it is about."`
	Parameter  string `json:"parameter,omitempty" doc:"The parameter at fault."`
	Position
	SQLState string `json:"sqlState,omitempty" doc:"The SQLSTATE that a database has refused with."`
	Errors   any    `json:"errors,omitempty" doc:"What is wrong, one by one."`
}

// OfAuthor reports whether a pipeline's author has written the message for the caller: it may
// be made of the payload. The other errors quote no payloads.
func (p *Problem) OfAuthor() bool {
	return p != nil && (p.Code == string(CodeFailed) || p.Code == string(CodeAssertionFailed) ||
		p.Code == string(CodeWorkFailed))
}

// HideMessage hides a message that may be made of the payload.
func (p *Problem) HideMessage() {
	if p.OfAuthor() {
		p.Detail = "The message of this step is shown to users with the permission " + MaySeePayload + "."
	}
}
