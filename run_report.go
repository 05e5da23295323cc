package sluice

import (
	"strconv"
	"time"
)

// A RunReport tells how one attempt of a pipeline went. Within a Call it has no ids of its own, and a
// key only if it is not for the call's own event.
type RunReport struct {
	TraceID       string       `json:"traceId,omitempty" doc:"-"`
	CorrelationID string       `json:"correlationId,omitempty" doc:"-"`
	EventKey      string       `json:"eventKey,omitempty" doc:"Of the event or message that the call has set off and that this run is for; its own runs have none."`
	Type          string       `json:"type,omitempty" doc:"-"` // of the event that started it
	Pipeline      string       `json:"pipeline" doc:"Its name; none if its source is not stored."`
	User          string       `json:"user,omitempty" doc:"-"` // who started it; empty if an event did
	Status        Status       `json:"status" doc:"ok, error, passed (it did not want the event) or superseded (another event ran in its place)."`
	Attempt       int          `json:"attempt" doc:"Which attempt it was, from 1."`
	Delivery      int          `json:"delivery" doc:"How often the engine has handed the event over; 0 if no event started it."`
	Started       time.Time    `json:"started" doc:"When it began."`
	Duration      float64      `json:"duration" doc:"How long it took, in milliseconds."`
	Error         *Problem     `json:"error,omitempty" doc:"Why it failed."`
	By            string       `json:"by,omitempty" doc:"Trace id of the event that ran in place of this one, if it was superseded."`
	Next          time.Time    `json:"next,omitzero" doc:"When the event is tried again."`
	Cut           bool         `json:"cut,omitempty" doc:"What its steps sent and got was too large to be kept."`
	Steps         []StepReport `json:"steps" doc:"What it did."`
	Sent          []uint64     `json:"sent,omitempty" doc:"-"` // sequences of the events that it has sent; nobody sees them
}

// A StepReport tells how one step of a run went.
type StepReport struct {
	Number   int     `json:"number,omitempty" doc:"Its place in the source, from 1."`
	Command  string  `json:"command" doc:"What it ran."`
	ID       string  `json:"id,omitempty" doc:"Its id in the source."`
	Line     int     `json:"line" doc:"Its line in the source."`
	Started  float64 `json:"started" doc:"When it began, in milliseconds since the run did."`
	Duration float64 `json:"duration" doc:"How long it took, in milliseconds."`
	Status   Status  `json:"status" doc:"How it ended."`
	Code     string  `json:"code,omitempty" doc:"Of its error."`
	User     string  `json:"user,omitempty" doc:"Who the run goes on as, if the step has changed that."`

	Kept bool `json:"kept,omitempty" doc:"It was done by an earlier attempt (once)."`

	HTTP *Exchange `json:"http,omitempty" doc:"What it sent and got."`
}

// Ended returns when the run ended.
func (r *RunReport) Ended() time.Time {
	return r.Started.Add(time.Duration(r.Duration * float64(time.Millisecond)))
}

// Cause says in a few words why a run failed, and nothing of payloads.
func (r *RunReport) Cause() string {
	if r.Error == nil {
		return ""
	}
	for _, s := range r.Steps {
		if s.Status == StatusError && s.HTTP != nil && s.Code != string(CodeAuthFailed) { // nobody was called
			text := s.Code
			if s.HTTP.StatusCode > 0 {
				text += " " + strconv.Itoa(s.HTTP.StatusCode)
			}
			if s.HTTP.Host != "" {
				text += " from " + s.HTTP.Host
			}
			return text
		}
	}
	if r.Error.OfAuthor() {
		return r.Error.Code + " in line " + strconv.Itoa(r.Error.Line)
	}
	return r.Error.Code + ": " + r.Error.Detail
}

// HidePayloads reduces exchanges to what everybody who sees calls may see.
func (r *RunReport) HidePayloads() {
	for i := range r.Steps {
		if e := r.Steps[i].HTTP; e != nil {
			r.Steps[i].HTTP = &Exchange{Method: e.Method, Host: e.Host, StatusCode: e.StatusCode}
		}
	}
}

// An Exchange is an HTTP request that a step of a run has sent, and its reply.
type Exchange struct {
	Method     string `json:"method" doc:"Of the request."`
	URL        string `json:"url,omitempty" doc:"Of the request, for users who may see payloads."`
	Host       string `json:"host,omitempty" doc:"Where it went, for others, if the source names it."`
	StatusCode int    `json:"statusCode,omitempty" doc:"Of the reply; none if there was none."`
	Request    string `json:"request,omitempty" doc:"Headers and body, as far as they are kept, without secrets."`
	Response   string `json:"response,omitempty" doc:"Headers and body of the reply, likewise."`

	Asked string `json:"-"` // URL of the server that gave the token for it
}

// NotRecorded is the error of a request whose reply is not known, see Run.Recorded.
func NotRecorded() *Error {
	return CodeNotRecorded.Errorf("It is not known what this request would have been answered with.")
}

// IsNotRecorded reports whether an error is NotRecorded.
func IsNotRecorded(err error) bool { return CodeNotRecorded.Is(err) }
