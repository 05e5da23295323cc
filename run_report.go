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
	Pipeline      string       `json:"pipeline"`               // empty for one that is not stored
	User          string       `json:"user,omitempty" doc:"-"` // who started it; empty if an event did
	Status        Status       `json:"status"`                 // ok, error, or passed: it did not want the event
	Attempt       int          `json:"attempt"`                // counted from 1
	Delivery      int          `json:"delivery"`               // counted from 1; 0 if no event started it
	Started       time.Time    `json:"started"`
	Duration      float64      `json:"duration"` // in milliseconds
	Error         *Problem     `json:"error,omitempty"`
	By            string       `json:"by,omitempty" doc:"Trace id of the event that ran in place of this one, if it was superseded."`
	Next          time.Time    `json:"next,omitzero" doc:"When the event is tried again."`
	Cut           bool         `json:"cut,omitempty" doc:"What its steps sent and got was too large to be kept."`
	Steps         []StepReport `json:"steps"`
	Sent          []uint64     `json:"sent,omitempty" doc:"-"` // sequences of the events that it has sent; nobody sees them
}

// AppendJSON appends the JSON of a report with a trace id, as encoding/json would
// write it.
func (r *RunReport) AppendJSON(b []byte) []byte {
	b = appendField(b, `{"traceId":`, r.TraceID)
	b = appendOptional(b, `,"correlationId":`, r.CorrelationID)
	b = appendOptional(b, `,"eventKey":`, r.EventKey)
	b = appendOptional(b, `,"type":`, r.Type)
	b = appendField(b, `,"pipeline":`, r.Pipeline)
	b = appendOptional(b, `,"user":`, r.User)
	b = appendField(b, `,"status":`, string(r.Status))
	b = appendNumber(b, `,"attempt":`, r.Attempt)
	b = appendNumber(b, `,"delivery":`, r.Delivery)
	b = appendTime(b, `,"started":`, r.Started)
	b = appendMilliseconds(b, `,"duration":`, r.Duration)
	b = appendProblem(b, r.Error)
	b = appendOptional(b, `,"by":`, r.By)
	if !r.Next.IsZero() {
		b = appendTime(b, `,"next":`, r.Next)
	}
	if r.Cut {
		b = append(b, `,"cut":true`...)
	}
	b = append(b, `,"steps":[`...)
	for i := range r.Steps {
		if i > 0 {
			b = append(b, ',')
		}
		b = r.Steps[i].appendJSON(b)
	}
	return append(AppendSequences(append(b, ']'), r.Sent), '}')
}

// AppendSequences appends the field of the sequences of events that were sent, if there are any.
func AppendSequences(b []byte, sent []uint64) []byte {
	for i, sequence := range sent {
		separator := ","
		if i == 0 {
			separator = `,"sent":[`
		}
		b = strconv.AppendUint(append(b, separator...), sequence, 10)
	}
	if len(sent) > 0 {
		b = append(b, ']')
	}
	return b
}

// A StepReport tells how one step of a run went.
type StepReport struct {
	Number   int     `json:"number,omitempty"` // counted from 1 in the order of the source, as errors say
	Command  string  `json:"command"`
	ID       string  `json:"id,omitempty"`
	Line     int     `json:"line"`
	Started  float64 `json:"started"`  // after the start of the run, in milliseconds
	Duration float64 `json:"duration"` // in milliseconds
	Status   Status  `json:"status"`
	Code     string  `json:"code,omitempty"` // of the error
	User     string  `json:"user,omitempty"` // that the run goes on as, if the step has changed that

	Kept bool `json:"kept,omitempty"` // the output is that of an earlier attempt

	HTTP *Exchange `json:"http,omitempty"` // of a step that calls others
}

func (s *StepReport) appendJSON(b []byte) []byte {
	b = append(b, '{')
	if s.Number != 0 {
		b = append(appendNumber(b, `"number":`, s.Number), ',')
	}
	b = appendField(b, `"command":`, s.Command)
	b = appendOptional(b, `,"id":`, s.ID)
	b = appendNumber(b, `,"line":`, s.Line)
	b = appendMilliseconds(b, `,"started":`, s.Started)
	b = appendMilliseconds(b, `,"duration":`, s.Duration)
	b = appendField(b, `,"status":`, string(s.Status))
	b = appendOptional(b, `,"code":`, s.Code)
	b = appendOptional(b, `,"user":`, s.User)
	if s.Kept {
		b = append(b, `,"kept":true`...)
	}
	if s.HTTP != nil {
		b = s.HTTP.appendJSON(append(b, `,"http":`...))
	}
	return append(b, '}')
}

// Cause says in a few words why a run failed, and nothing of payloads.
func (r *RunReport) Cause() string {
	if r.Error == nil {
		return ""
	}
	for _, s := range r.Steps {
		if s.Status == StatusError && s.HTTP != nil {
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
	Method     string `json:"method"`
	URL        string `json:"url,omitempty"`        // only for users who may see payloads
	Host       string `json:"host,omitempty"`       // of the URL, if the source of the pipeline has it
	StatusCode int    `json:"statusCode,omitempty"` // 0: there was no reply
	Request    string `json:"request,omitempty"`    // headers and body, as far as they are kept
	Response   string `json:"response,omitempty"`   // likewise
}

func (e *Exchange) appendJSON(b []byte) []byte {
	b = appendField(b, `{"method":`, e.Method)
	b = appendOptional(b, `,"url":`, e.URL)
	b = appendOptional(b, `,"host":`, e.Host)
	b = appendCount(b, `,"statusCode":`, e.StatusCode)
	b = appendOptional(b, `,"request":`, e.Request)
	b = appendOptional(b, `,"response":`, e.Response)
	return append(b, '}')
}

// NotRecorded is the error of a request whose reply is not known, see Run.Recorded.
func NotRecorded() *Error {
	return Errorf(CodeNotRecorded, "It is not known what this request would have been answered with.")
}

// IsNotRecorded reports whether an error is NotRecorded.
func IsNotRecorded(err error) bool { return CodeNotRecorded.Is(err) }
