package sluice

import "time"

// A RunReport tells how a run went, for people who look for the call that led
// to it.
type RunReport struct {
	Pipeline      string        `json:"pipeline"` // empty for one that is not stored
	TraceID       string        `json:"traceId"`
	CorrelationID string        `json:"correlationId,omitempty"`
	EventKey      string        `json:"eventKey,omitempty"` // of the event that started it
	Attempt       int           `json:"attempt"`            // counted from 1
	Delivery      int           `json:"delivery"`           // counted from 1; 0 if no event started it
	Started       time.Time     `json:"started"`
	Duration      time.Duration `json:"duration"` // in nanoseconds
	Status        Status        `json:"status"`   // ok or error
	Error         *Problem      `json:"error,omitempty"`
	Steps         []StepReport  `json:"steps"`
}

// AppendJSON appends the report's JSON, as encoding/json would write it.
func (r *RunReport) AppendJSON(b []byte) []byte {
	b = appendField(b, `{"pipeline":`, r.Pipeline)
	b = appendField(b, `,"traceId":`, r.TraceID)
	b = appendOptional(b, `,"correlationId":`, r.CorrelationID)
	b = appendOptional(b, `,"eventKey":`, r.EventKey)
	b = appendNumber(b, `,"attempt":`, r.Attempt)
	b = appendNumber(b, `,"delivery":`, r.Delivery)
	b = append(b, `,"started":"`...)
	b = r.Started.AppendFormat(b, time.RFC3339Nano)
	b = appendNumber(b, `","duration":`, r.Duration)
	b = appendField(b, `,"status":`, string(r.Status))
	if r.Error != nil {
		b = append(b, `,"error":`...)
		b = appendJSON(b, r.Error)
	}
	b = append(b, `,"steps":[`...)
	for i := range r.Steps {
		if i > 0 {
			b = append(b, ',')
		}
		b = r.Steps[i].appendJSON(b)
	}
	return append(b, "]}"...)
}

// A StepReport tells how one step of a run went.
type StepReport struct {
	Command  string        `json:"command"`
	ID       string        `json:"id,omitempty"`
	Line     int           `json:"line"`
	Started  time.Duration `json:"started"` // after the start of the run, in nanoseconds
	Duration time.Duration `json:"duration"`
	Status   Status        `json:"status"`
	Code     string        `json:"code,omitempty"` // of the error
}

func (s *StepReport) appendJSON(b []byte) []byte {
	b = appendField(b, `{"command":`, s.Command)
	b = appendOptional(b, `,"id":`, s.ID)
	b = appendNumber(b, `,"line":`, s.Line)
	b = appendNumber(b, `,"started":`, s.Started)
	b = appendNumber(b, `,"duration":`, s.Duration)
	b = appendField(b, `,"status":`, string(s.Status))
	b = appendOptional(b, `,"code":`, s.Code)
	return append(b, '}')
}
