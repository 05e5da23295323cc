package sluice

import "time"

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
	Work        []WorkQueue     `json:"work,omitempty"`  // that waits for somebody outside
	Spool       *SpoolStats     `json:"spool,omitempty"` // of the node that answers
	Minutes     []Minute        `json:"minutes"`
	Hours       []Minute        `json:"hours,omitempty"` // likewise, hour by hour

	Alerts []Alert `json:"-"` // open ones; alert.get shows them

	// What only the metrics show.
	SyncAge    time.Duration `json:"-"` // of the oldest batch that is not on stable storage yet
	FreeFiles  int64         `json:"-"` // that the volume of the data folder can still take
	Lost       int64         `json:"-"` // events that the disk has lost
	Offline    int64         `json:"-"` // replicas of streams on an external engine
	Behind     int64         `json:"-"` // likewise
	LostOthers int64         `json:"-"` // other stored messages that it has lost, as the start found
	CutOff     int64         `json:"-"` // unfinished writes that the start has cut off
	Unreadable int64         `json:"-"` // events that pipelines could not read, since the start
	Unrecorded int64         `json:"-"` // entries that the journal had no space for, since the start
	RecordSize int64         `json:"-"` // bytes of what users have stored
	Unstored   int64         `json:"-"` // records that were refused for want of room, since the start
	Unkept     int64         `json:"-"` // rejected calls that the quarantine did not keep, or dropped early, since the start
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
	Unbegun     *time.Time `json:"-"`                // since when the oldest event waits that was not begun, at least
	DeadLetters int64      `json:"deadLetters"`
	Failing     *time.Time `json:"failingSince,omitempty"` // since when its runs fail, up to the latest one
	Cause       string     `json:"cause,omitempty"`        // of its latest failure
}

// A PipelineState says whether the latest run of a pipeline failed.
type PipelineState struct {
	Pipeline string    `json:"pipeline"`
	Failing  bool      `json:"failing"`
	Since    time.Time `json:"since"`           // when it began to fail
	Time     time.Time `json:"time"`            // of the latest run
	Cause    string    `json:"cause,omitempty"` // of the latest failure
}

// Unfinished says which calls are not done, on all nodes.
type Unfinished struct {
	// Since is when the oldest event came that a pipeline may not be done with; zero if
	// there is none.
	Since time.Time
	// Retrying are the calls that are tried again.
	Retrying []WaitingCall
}

// A WaitingCall is a call whose event waits for another attempt, or is in it.
type WaitingCall struct {
	EventKey string    // empty: it is an event that no call set off
	Time     time.Time // when it came
}

// WebhookStats are the figures of a webhook over some hours, as webhook.stats
// shows them.
type WebhookStats struct {
	EventKey string `json:"eventKey"`
	CallFigures

	Last  time.Time `json:"last,omitzero"` // when the last call came
	Hours []int     `json:"hours"`         // calls in each hour, rejected ones included

	Figures []CallFigures `json:"figures,omitempty"` // of each hour; only of a webhook that was asked for by its key
}
