package journal

import (
	"encoding/json"
	"time"

	"sluice"
)

// call returns the call that a line is about, or the event or message that was
// sent, and the subject it is stored under.
func (l line) call() (c sluice.Call, subject string, ok bool) {
	switch l.kind {
	case lineCall:
		ok = json.Unmarshal(l.data, &c) == nil
	case lineCall010:
		var old call010
		ok = json.Unmarshal(l.data, &old) == nil
		c = old.call()
	case lineSent:
		var sent sentEvent
		ok = json.Unmarshal(l.data, &sent) == nil
		sent.Status = sluice.StatusBefore(sent.Listeners) // version 0.1.0 wrote none
		return sent.Call, sent.Subject, ok
	}
	return c, sluice.EventPrefix + c.EventKey, ok
}

// run returns the run that a line is about.
func (l line) run() (r sluice.RunReport, ok bool) {
	switch l.kind {
	case lineRun:
		return r, json.Unmarshal(l.data, &r) == nil
	case lineRun010:
		var old run010
		ok = json.Unmarshal(l.data, &old) == nil
		return old.run(), ok
	}
	return r, false
}

// Kinds of lines that version 0.1.0 wrote. Such lines are kept as long as their
// events.
const (
	lineCall010 = 'c' // call010
	lineRun010  = 'r' // run010
)

// call010 is a call as version 0.1.0 wrote it: the status is that of the HTTP
// answer, and times are in nanoseconds.
type call010 struct {
	sluice.Call

	Status   int           `json:"status"`
	Duration time.Duration `json:"duration"`
}

func (o *call010) call() sluice.Call {
	c := o.Call
	c.Status, c.StatusCode, c.Duration = sluice.StatusBefore(c.Listeners), o.Status, sluice.Milliseconds(o.Duration)
	if c.CorrelationID == "" {
		c.Status = sluice.StatusRejected
	}
	return c
}

// run010 is a run as version 0.1.0 wrote it: times are in nanoseconds.
type run010 struct {
	sluice.RunReport

	Duration time.Duration `json:"duration"`
	Steps    []step010     `json:"steps"`
}

type step010 struct {
	sluice.StepReport

	Started  time.Duration `json:"started"`
	Duration time.Duration `json:"duration"`
}

func (o *run010) run() sluice.RunReport {
	r := o.RunReport
	r.Duration, r.Steps = sluice.Milliseconds(o.Duration), make([]sluice.StepReport, len(o.Steps))
	for i, s := range o.Steps {
		r.Steps[i] = s.StepReport
		r.Steps[i].Started, r.Steps[i].Duration = sluice.Milliseconds(s.Started), sluice.Milliseconds(s.Duration)
	}
	return r
}
