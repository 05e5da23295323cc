package sluice

import (
	"encoding/json"
	"time"
)

// A TestReport tells how the tests of a pipeline ended, as pipeline.test shows it.
type TestReport struct {
	Passed int          `json:"passed"`
	Failed int          `json:"failed"`
	Tests  []TestResult `json:"tests"`
}

// A TestResult is how one test of a pipeline ended.
type TestResult struct {
	Name    string `json:"name"`
	Passed  bool   `json:"passed"`
	Message string `json:"message,omitempty"` // what differs
}

// A TryResult tells what a draft of a pipeline would make of past events, as
// pipeline.try shows it.
type TryResult struct {
	Same       int       `json:"same"`
	Differs    int       `json:"differs"`
	Fails      int       `json:"fails"`
	Unknown    int       `json:"unknown"`
	Mended     int       `json:"mended,omitempty"`     // of those that differ: they failed, and would succeed
	New        int       `json:"new,omitempty"`        // of those that differ: no pipeline has run on them
	StillFails int       `json:"stillFails,omitempty"` // of those that are the same: they failed, and would fail again
	Items      []TryItem `json:"items"`                // the first that are not the same or still fail, or the one that was asked for
	Next       string    `json:"next,omitempty"`       // cursor: there may be older events
	Warnings   []Finding `json:"warnings,omitempty"`   // what should be looked at in the draft
}

// Tried returns how many events the draft was tried on.
func (r *TryResult) Tried() int { return r.Same + r.Differs + r.Fails + r.Unknown }

// A Verdict compares what a draft would make of an event with what was made of it.
type Verdict string

// The verdicts.
const (
	TrySame    Verdict = "same"
	TryDiffers Verdict = "differs"
	TryFails   Verdict = "fails"   // the event did not fail before, or failed in another way
	TryUnknown Verdict = "unknown" // nobody knows what a command would have answered
)

// A TryItem is one event that a draft was tried on.
type TryItem struct {
	TraceID  string      `json:"traceId"`
	EventKey string      `json:"eventKey,omitempty"`
	Time     time.Time   `json:"time"`
	Verdict  Verdict     `json:"verdict"`
	Reason   string      `json:"reason,omitempty"` // of unknown
	Was      *TryOutcome `json:"was,omitempty"`    // nothing if no pipeline has run on it
	WouldBe  *TryOutcome `json:"wouldBe,omitempty"`
}

// Failed reports whether the event had failed.
func (i *TryItem) Failed() bool { return i.Was != nil && i.Was.Status == StatusError }

// A TryOutcome is what a run ended with, and what it did outside.
type TryOutcome struct {
	Status  Status          `json:"status"`
	Code    string          `json:"code,omitempty"`    // of the error
	Message string          `json:"message,omitempty"` // of the error
	Value   json.RawMessage `json:"value,omitempty"`   // as far as it is kept; cut off, it is a text
	Calls   []TryCall       `json:"calls,omitempty"`
}

// A TryCall is a command that reaches outside.
type TryCall struct {
	Command string    `json:"command"`
	Args    string    `json:"args,omitempty"` // JSON, perhaps cut off; not known of past runs
	HTTP    *Exchange `json:"http,omitempty"`
}
