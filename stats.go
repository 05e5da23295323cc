package sluice

import (
	"encoding/json"
	"time"
)

// ServerStats is what a server is doing, as server.stats shows it.
type ServerStats struct {
	Ready       bool            `json:"ready"`
	Problem     string          `json:"problem,omitempty"` // why it is not ready
	Warnings    []string        `json:"warnings,omitempty"`
	Engine      string          `json:"engine"`
	FreeDisk    int64           `json:"freeDisk"` // bytes; -1 with an external engine
	Events      int64           `json:"events"`
	EventBytes  int64           `json:"eventBytes"`
	DeadLetters int64           `json:"deadLetters"`
	Results     int64           `json:"results"`
	Webhooks    int             `json:"webhooks"`
	Pipelines   []PipelineStats `json:"pipelines"`       // that listen
	Spool       *SpoolStats     `json:"spool,omitempty"` // of the node that answers
	Minutes     []Minute        `json:"minutes"`
	Hours       []Minute        `json:"hours,omitempty"` // likewise, hour by hour

	// What only the metrics show.
	Lost       int64 `json:"-"` // events that the disk has lost
	Unreadable int64 `json:"-"` // events that pipelines could not read, since the start
	Unrecorded int64 `json:"-"` // entries that the journal had no space for, since the start
	Unkept     int64 `json:"-"` // rejected calls that the quarantine did not keep, or dropped early, since the start
}

// SpoolStats are the calls that a node has taken while the engine was away, and
// not handed over yet.
type SpoolStats struct {
	Waiting  int64      `json:"waiting"`
	Oldest   *time.Time `json:"oldest,omitempty"` // when the oldest of them came
	Bytes    int64      `json:"bytes"`
	MaxBytes int64      `json:"maxBytes"`
}

// PipelineStats are what a pipeline has not finished, or failed on.
type PipelineStats struct {
	Pipeline    string     `json:"pipeline"`
	Waiting     int64      `json:"waiting"`          // events that it has not finished
	Retrying    int64      `json:"retrying"`         // those of them that wait for another attempt
	Oldest      *time.Time `json:"oldest,omitempty"` // since when the oldest of those waits
	DeadLetters int64      `json:"deadLetters"`
	Failing     *time.Time `json:"failingSince,omitempty"` // since when its latest runs fail
}

// A PipelineState says whether the latest runs of a pipeline failed.
type PipelineState struct {
	Pipeline string    `json:"pipeline"`
	Failing  bool      `json:"failing"`
	Since    time.Time `json:"since"` // when it began to fail
	Time     time.Time `json:"time"`  // of the latest run
}

// A Minute sums up the calls and runs of one minute, over all nodes.
type Minute struct {
	Time        time.Time `json:"time"`      // when it began
	Accepted    int       `json:"accepted"`  // calls that became events
	Rejected    int       `json:"refused"`   // calls that were the caller's mistake
	Unavailable int       `json:"failed"`    // calls that we could not take
	Errors      int       `json:"errors"`    // calls that were accepted and that a pipeline then failed on for good
	Runs        int       `json:"runs"`      // runs of pipelines
	RunErrors   int       `json:"runErrors"` // those of them that failed

	// The median and the 99th percentile of the time until accepted calls were on
	// stable storage, in milliseconds. A stored minute has the counts that they are
	// computed from.
	P50       float64 `json:"p50"`
	P99       float64 `json:"p99"`
	Latencies []int   `json:"latencies,omitempty" doc:"-"`

	// Webhooks are the figures of single webhooks, by event key. Only hours have
	// them.
	Webhooks map[string]WebhookFigures `json:"webhooks,omitempty" doc:"-"`
}

// WebhookFigures are what became of the calls of one webhook in some time.
type WebhookFigures struct {
	Accepted int       `json:"accepted,omitempty"`
	Rejected int       `json:"refused,omitempty"`
	Errors   int       `json:"errors,omitempty"` // that were accepted and that a pipeline then failed on for good
	Last     time.Time `json:"last,omitzero"`    // when the last call came
}

// Well returns how many calls were accepted without a pipeline failing on them. A
// failure may be counted later than its call, so the difference may be negative.
func (m *Minute) Well() int { return max(0, m.Accepted-m.Errors) }

// Well returns the same of a webhook.
func (f *WebhookFigures) Well() int { return max(0, f.Accepted-f.Errors) }

// WebhookStats are the figures of a webhook over some hours, as webhook.stats
// shows them.
type WebhookStats struct {
	EventKey string `json:"eventKey"`
	WebhookFigures

	Hours []int `json:"hours"` // calls in each hour, rejected ones included
}

// UnmarshalJSON also reads what version 0.1.0 stored, where the time is named start.
func (m *Minute) UnmarshalJSON(data []byte) error {
	type minute Minute
	stored := struct {
		*minute

		Start time.Time `json:"start"`
	}{minute: (*minute)(m)}
	err := json.Unmarshal(data, &stored)
	if m.Time.IsZero() {
		m.Time = stored.Start
	}
	return err
}
