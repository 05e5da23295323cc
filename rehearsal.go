package sluice

import (
	"encoding/json"
	"time"
)

// A TestReport tells how the tests of a pipeline ended, as pipeline.test shows it.
type TestReport struct {
	Passed int          `json:"passed" doc:"How many passed."`
	Failed int          `json:"failed" doc:"How many failed."`
	Tests  []TestResult `json:"tests" doc:"Each test."`
}

// A TestResult is how one test of a pipeline ended.
type TestResult struct {
	Name    string `json:"name" doc:"Its name in the source."`
	Passed  bool   `json:"passed" doc:"Everything was as expected."`
	Message string `json:"message,omitempty" doc:"What was not."`
}

// A TryResult tells what a draft of a pipeline would make of past events, as
// pipeline.try shows it.
type TryResult struct {
	Same       int       `json:"same" doc:"How many events would end as they did."`
	Differs    int       `json:"differs" doc:"How many would end in another way."`
	Fails      int       `json:"fails" doc:"How many would fail."`
	Unknown    int       `json:"unknown" doc:"How many need an answer from outside that was not recorded."`
	Mended     int       `json:"mended,omitempty" doc:"How many of those that differ have failed, and would go well now."`
	New        int       `json:"new,omitempty" doc:"How many of those that differ no pipeline has run on."`
	StillFails int       `json:"stillFails,omitempty" doc:"How many of those that are the same have failed, and would fail again."`
	Items      []TryItem `json:"items" doc:"The first that are not the same or still fail, or the one that was asked for."`
	Next       string    `json:"next,omitempty" doc:"Value of the parameter after for older events."`
	Warnings   []Finding `json:"warnings,omitempty" doc:"What should be looked at in the source."`
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
	TraceID  string      `json:"traceId" doc:"Of the event."`
	EventKey string      `json:"eventKey,omitempty" doc:"Its key."`
	Time     time.Time   `json:"time" doc:"When it came."`
	Verdict  Verdict     `json:"verdict" doc:"What the draft would make of it."`
	Reason   string      `json:"reason,omitempty" doc:"Why that is unknown."`
	Was      *TryOutcome `json:"was,omitempty" doc:"What became of it; nothing if no pipeline has run on it."`
	WouldBe  *TryOutcome `json:"wouldBe,omitempty" doc:"What would become of it."`
}

// Failed reports whether the event had failed.
func (i *TryItem) Failed() bool { return i.Was != nil && i.Was.Status == StatusError }

// A TryOutcome is what a run ended with, and what it did outside.
type TryOutcome struct {
	Status  Status          `json:"status" doc:"ok or error."`
	Code    string          `json:"code,omitempty" doc:"Of the error."`
	Message string          `json:"message,omitempty" doc:"Of the error."`
	Value   json.RawMessage `json:"value,omitempty" doc:"The final body, as far as it is kept, for users who may see payloads; cut off, it is a text."`
	Calls   []TryCall       `json:"calls,omitempty" doc:"What was sent to others, in order."`
}

// A TryCall is a command that reaches outside.
type TryCall struct {
	Command string    `json:"command" doc:"The command of the step."`
	Args    string    `json:"args,omitempty" doc:"Its parameters as JSON, perhaps cut off; of past runs, only what they sent."`
	HTTP    *Exchange `json:"http,omitempty" doc:"What an HTTP request sends."`
}
