package sluice

import "time"

// ServerStats is what a server is doing, as server.stats shows it.
type ServerStats struct {
	Ready       bool            `json:"ready" doc:"Calls can be accepted."`
	Problem     string          `json:"problem,omitempty" doc:"Why not."`
	Warnings    []string        `json:"warnings,omitempty" doc:"What should be looked at."`
	Engine      string          `json:"engine" doc:"embedded or external."`
	FreeDisk    int64           `json:"freeDisk" doc:"Bytes that are free on the volume of the data folder; -1 with an external engine."`
	Events      int64           `json:"events" doc:"Events that are kept."`
	EventBytes  int64           `json:"eventBytes" doc:"Their size."`
	DeadLetters int64           `json:"deadLetters" doc:"Events that pipelines have given up on."`
	Results     int64           `json:"results" doc:"Results that are kept."`
	Webhooks    int             `json:"webhooks" doc:"How many there are."`
	Pipelines   []PipelineStats `json:"pipelines" doc:"What waits and what failed, of each pipeline that listens."`
	Work        []WorkQueue     `json:"work,omitempty" doc:"Work that waits for somebody outside."`
	Spool       *SpoolStats     `json:"spool,omitempty" doc:"Calls that this node has taken while the engine was away."`
	Minutes     []Minute        `json:"minutes" doc:"Figures of each minute, the oldest first."`
	Hours       []Minute        `json:"hours,omitempty" doc:"Figures of each hour, likewise."`

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
	CutLetters int64         `json:"-"` // dead letters that were dropped for those of others, since the start
	CutResults int64         `json:"-"` // likewise
	CutIDs     int64         `json:"-"` // likewise, ids of deliveries
	Unkept     int64         `json:"-"` // rejected calls that the quarantine did not keep, or dropped early, since the start
}

// SpoolStats are the calls that a node has taken while the engine was away, and
// not handed over yet.
type SpoolStats struct {
	Waiting  int64      `json:"waiting" doc:"Calls that were not handed over yet."`
	Oldest   *time.Time `json:"oldest,omitempty" doc:"When the oldest of them came."`
	Bytes    int64      `json:"bytes" doc:"Their size."`
	MaxBytes int64      `json:"maxBytes" doc:"How large they may become."`
}

// PipelineStats are what a pipeline has not finished, or failed on.
type PipelineStats struct {
	Pipeline    string     `json:"pipeline" doc:"Its name."`
	Waiting     int64      `json:"waiting" doc:"Events that it has not finished."`
	Retrying    int64      `json:"retrying" doc:"Those of them that wait for another attempt."`
	Oldest      *time.Time `json:"oldest,omitempty" doc:"Since when the oldest of those waits."`
	Unbegun     *time.Time `json:"-"` // since when the oldest event waits that was not begun, at least
	DeadLetters int64      `json:"deadLetters" doc:"Events that it has given up on."`
	Failing     *time.Time `json:"failingSince,omitempty" doc:"Since when its runs fail, up to the latest one."`
	Cause       string     `json:"cause,omitempty" doc:"Of its latest failure, while it fails, tries again or has dead letters."`
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

// A WaitingCall stands for the calls of a minute whose events wait for another attempt, or are in it.
type WaitingCall struct {
	EventKey string    // empty: they are events that no call set off
	Time     time.Time // the minute in which they came
	Count    int
}

// WebhookStats are the figures of a webhook over some hours, as webhook.stats
// shows them.
type WebhookStats struct {
	EventKey string `json:"eventKey" doc:"Its key."`
	CallFigures

	Last  time.Time `json:"last,omitzero" doc:"When the last call came."`
	Hours []int     `json:"hours" doc:"Calls of each hour, the oldest first, rejected ones included."`

	Figures []CallFigures `json:"figures,omitempty" doc:"Figures of each hour, if asked for."`

	Types []TypeStats `json:"types,omitempty" doc:"Kinds of its events in the last 30 days: the 50 busiest, the rest as other."`
}

// OtherTypes stands for the kinds of events that have no figures of their own.
const OtherTypes = "other"

// TypeStats are the events of one kind that a webhook has got in the last 30 days.
type TypeStats struct {
	Type string `json:"type" doc:"As the sender names it."`
	TypeFigures

	Listeners *int `json:"listeners,omitempty" doc:"How many pipelines take it. Not said of other, nor to a role with a scope where it covers none of them."`
}
