package sluice

import (
	"encoding/json"
	"time"
)

// CallFigures say what became of the calls of some time. Every accepted call is in one of
// five states, so Accepted is the sum of the five figures after it, at any moment. Replays
// are no calls.
type CallFigures struct {
	Accepted   int `json:"accepted" doc:"Calls that were accepted: the sum of the next five."`
	Processing int `json:"processing" doc:"No pipeline has failed on them so far."`
	Retrying   int `json:"retrying" doc:"A pipeline failed on them, and tries again."`
	OK         int `json:"ok" doc:"All pipelines are done with them."`
	Error      int `json:"error" doc:"A pipeline failed on them for good."`
	Recovered  int `json:"recovered" doc:"A pipeline failed on them, and a replay went well."`
	Rejected   int `json:"rejected" doc:"They became no events."`
}

// End counts what became of something that was accepted.
func (f *CallFigures) End(status Status) {
	switch status {
	case StatusError:
		f.Error++
	case StatusRecovered:
		f.Error--
		f.Recovered++
	default:
		f.OK++
	}
}

// Add adds the figures of another time or webhook.
func (f *CallFigures) Add(other CallFigures) {
	f.Accepted += other.Accepted
	f.Processing += other.Processing
	f.Retrying += other.Retrying
	f.OK += other.OK
	f.Error += other.Error
	f.Recovered += other.Recovered
	f.Rejected += other.Rejected
}

// Well returns how many calls went well, in the end.
func (f *CallFigures) Well() int { return f.OK + f.Recovered }

// RunFigures count the runs of a pipeline in some time.
type RunFigures struct {
	Runs   int `json:"runs" doc:"How often it ran."`
	Errors int `json:"errors" doc:"How many of the runs failed."`
	Passed int `json:"passed" doc:"Events that its where did not want."`
}

// Add adds the runs of another time.
func (f *RunFigures) Add(other RunFigures) {
	f.Runs += other.Runs
	f.Errors += other.Errors
	f.Passed += other.Passed
}

// WebhookFigures are what became of the calls of one webhook in some time.
type WebhookFigures struct {
	CallFigures

	Last         time.Time `json:"last,omitzero"`         // when the last call came
	LastAccepted time.Time `json:"lastAccepted,omitzero"` // when the last one came that was accepted
	Expected     bool      `json:"expected,omitempty"`    // calls of it are expected, so it is always counted by itself
}

// TypeFigures count the events of one kind that a webhook has got in some time.
type TypeFigures struct {
	Calls int       `json:"calls" doc:"Events of this kind."`
	Last  time.Time `json:"last" doc:"When the last one came."`
}

// And returns the sum of both.
func (f TypeFigures) And(other TypeFigures) TypeFigures {
	if f.Calls += other.Calls; other.Last.After(f.Last) {
		f.Last = other.Last
	}
	return f
}

// PipelineRuns are the runs of one or all pipelines over some hours, as pipeline.stats shows them.
type PipelineRuns struct {
	Pipeline string `json:"pipeline,omitempty" doc:"The one that was asked for."`
	RunFigures

	Hours     []RunFigures    `json:"hours" doc:"Of each hour, the oldest first."`
	Pipelines []PipelineStats `json:"pipelines" doc:"What waits and what failed, of each pipeline that listens."`
}

// A CallEnd says what became of an accepted call.
type CallEnd struct {
	EventKey string
	TraceID  string
	Status   Status // ok, error, or recovered after an error
	Sent     bool   // it is no call, but an event that a user or the server has sent
}

// A Minute sums up the calls and runs of one minute, over all nodes. What became of a call
// counts in the minute in which the call came.
type Minute struct {
	Time time.Time `json:"time" doc:"When it began."`
	CallFigures

	Calls  *CallFigures `json:"calls,omitempty" doc:"Of calls alone."`
	Events *CallFigures `json:"events,omitempty" doc:"Of events that no call set off."`

	Unavailable int `json:"unavailable" doc:"Those of the rejected calls that the server could not take."`
	Runs        int `json:"runs" doc:"Runs of pipelines."`
	RunErrors   int `json:"runErrors" doc:"Those of them that failed."`

	// The median and the 99th percentile of the time until accepted calls were on
	// stable storage, in milliseconds. A stored minute has the counts that they are
	// computed from.
	P50       float64 `json:"p50" doc:"Half of the calls were answered within so many milliseconds."`
	P99       float64 `json:"p99" doc:"99 of 100 calls were."`
	Latencies []int   `json:"latencies,omitempty" doc:"-"`

	// Webhooks are the figures of single webhooks, by event key. Only hours have
	// them.
	Webhooks map[string]WebhookFigures `json:"webhooks,omitempty" doc:"-"`

	// Last names what each node has added last, so that nothing is added twice.
	Last map[string]string `json:"last,omitempty" doc:"-"`

	// Pipelines are the runs of single pipelines, by name. Only hours have them.
	Pipelines map[string]RunFigures `json:"pipelines,omitempty" doc:"-"`

	// Types are the kinds of events that webhooks have got, by event key and kind. Days have them, and nothing else.
	Types map[string]map[string]TypeFigures `json:"types,omitempty" doc:"-"`
}

// UnmarshalJSON also reads what version 0.2.0 stored, where some figures had other names. Its
// rejected calls were only those that were the caller's mistake.
func (m *Minute) UnmarshalJSON(data []byte) error {
	type minute Minute
	stored := struct {
		*minute

		Refused int `json:"refused"`
		Failed  int `json:"failed"`
		Errors  int `json:"errors"`
	}{minute: (*minute)(m)}
	err := json.Unmarshal(data, &stored)
	m.Rejected += stored.Refused + stored.Failed
	m.Unavailable += stored.Failed
	m.Error += stored.Errors
	return err
}

// UnmarshalJSON also reads what versions before 0.3.0 stored.
func (f *WebhookFigures) UnmarshalJSON(data []byte) error {
	type figures WebhookFigures
	stored := struct {
		*figures

		Refused int `json:"refused"`
		Errors  int `json:"errors"`
	}{figures: (*figures)(f)}
	err := json.Unmarshal(data, &stored)
	f.Rejected += stored.Refused
	f.Error += stored.Errors
	return err
}
