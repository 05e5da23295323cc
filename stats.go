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
}

// A PipelineState says whether the latest run of a pipeline failed.
type PipelineState struct {
	Pipeline string    `json:"pipeline"`
	Failing  bool      `json:"failing"`
	Since    time.Time `json:"since"` // when it began to fail
	Time     time.Time `json:"time"`  // of the latest run
}

// CallFigures say what became of the calls of some time. Every accepted call is in one of
// five states, so Accepted is the sum of the five figures after it, at any moment. Replays
// are no calls.
type CallFigures struct {
	Accepted   int `json:"accepted"`   // that became events
	Processing int `json:"processing"` // that no pipeline has failed on, and that are not done
	Retrying   int `json:"retrying"`   // that a pipeline failed on and tries again
	OK         int `json:"ok"`         // that went well
	Error      int `json:"error"`      // that a pipeline failed on for good
	Recovered  int `json:"recovered"`  // that did, and whose replay went well
	Rejected   int `json:"rejected"`   // that became no events
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

// Open returns how many calls pipelines are not done with.
func (f *CallFigures) Open() int { return f.Processing + f.Retrying }

// A Minute sums up the calls and runs of one minute, over all nodes. What became of a call
// counts in the minute in which the call came.
type Minute struct {
	Time time.Time `json:"time"` // when it began
	CallFigures

	Unavailable int `json:"unavailable"` // those of the rejected calls that we could not take
	Runs        int `json:"runs"`        // runs of pipelines
	RunErrors   int `json:"runErrors"`   // those of them that failed

	// The median and the 99th percentile of the time until accepted calls were on
	// stable storage, in milliseconds. A stored minute has the counts that they are
	// computed from.
	P50       float64 `json:"p50"`
	P99       float64 `json:"p99"`
	Latencies []int   `json:"latencies,omitempty" doc:"-"`

	// Webhooks are the figures of single webhooks, by event key. Only hours have
	// them.
	Webhooks map[string]WebhookFigures `json:"webhooks,omitempty" doc:"-"`

	// Pipelines are the runs of single pipelines, by name. Only hours have them.
	Pipelines map[string]RunFigures `json:"pipelines,omitempty" doc:"-"`
}

// RunFigures count the runs of a pipeline in some time.
type RunFigures struct {
	Runs   int `json:"runs"`
	Errors int `json:"errors"` // those of them that failed
}

// Add adds the runs of another time.
func (f *RunFigures) Add(other RunFigures) {
	f.Runs += other.Runs
	f.Errors += other.Errors
}

// PipelineRuns are the runs of a pipeline over some hours, as pipeline.stats shows them.
type PipelineRuns struct {
	Pipeline string `json:"pipeline"`
	RunFigures

	Hours []RunFigures `json:"hours"` // in each hour
}

// WebhookFigures are what became of the calls of one webhook in some time.
type WebhookFigures struct {
	CallFigures

	Last         time.Time `json:"last,omitzero"`         // when the last call came
	LastAccepted time.Time `json:"lastAccepted,omitzero"` // when the last one came that was accepted
	Expected     bool      `json:"expected,omitempty"`    // calls of it are expected, so it is always counted by itself
}

// A CallEnd says what became of an accepted call.
type CallEnd struct {
	EventKey string
	TraceID  string
	Status   Status // ok, error, or recovered after an error
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
	EventKey string
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

// UnmarshalJSON also reads what earlier versions stored: the time was named start in 0.1.0,
// and other figures had other names until 0.2.0. Their rejected calls were only those that
// were the caller's mistake.
func (m *Minute) UnmarshalJSON(data []byte) error {
	type minute Minute
	stored := struct {
		*minute

		Start   time.Time `json:"start"`
		Refused int       `json:"refused"`
		Failed  int       `json:"failed"`
		Errors  int       `json:"errors"`
	}{minute: (*minute)(m)}
	err := json.Unmarshal(data, &stored)
	if m.Time.IsZero() {
		m.Time = stored.Start
	}
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

// Causes of a closing.
const (
	ClosedByStop   = "stop"    // the server was stopped
	ClosedByCrash  = "crash"   // it ended otherwise, with its machine perhaps
	ClosedRefusing = "refused" // it ran, and could not take calls
)

// A Closing is a time in which no calls were taken, by no node.
type Closing struct {
	From     time.Time       `json:"from" doc:"When the last sign of life was stored, which is done every 4 seconds; of a stop, when the port was closed."`
	To       time.Time       `json:"to"`
	Cause    string          `json:"cause" enum:"stop,crash,refused"`
	Webhooks []ClosedWebhook `json:"webhooks" doc:"Those with calls in the hour before, or at that hour of the week in the last four weeks."`
}

// A ClosedWebhook is a webhook that may have missed calls.
type ClosedWebhook struct {
	EventKey string `json:"eventKey"`
	Retries  string `json:"retries" doc:"How long its sender tries again: none, a duration such as 3d, or unknown."`
	Usual    int    `json:"usual" doc:"How many calls an hour usually come at that time, by the last four weeks."`
}

// A ClosedRecord is a closing, or the last sign of life.
type ClosedRecord struct {
	Closing   *Closing   `json:"closing,omitempty"`
	Heartbeat *Heartbeat `json:"heartbeat,omitempty"`
}

// A Heartbeat is a sign of life of a server, or of several together.
type Heartbeat struct {
	Time time.Time `json:"time"`
	Last string    `json:"last,omitempty"` // why no other follows: a stop or a hand-over
}
