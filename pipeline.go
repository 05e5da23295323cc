package sluice

import (
	"context"
	"encoding/json"
	"regexp"
	"time"
)

var validPipelineName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,127}$`)

// PipelineNameRule says in words what the name of a pipeline is.
const PipelineNameRule = "1 to 128 lower-case letters, digits, dots, _ and -, beginning with a letter or digit"

// ValidPipelineName reports whether a text can be the name of a pipeline.
func ValidPipelineName(name string) bool { return validPipelineName.MatchString(name) }

// A Pipeline is a stored pipeline.
type Pipeline struct {
	Name    string    `json:"name"`
	Source  string    `json:"source"`
	Owner   string    `json:"owner"`             // the user who stored it last
	OwnerID string    `json:"ownerId,omitempty"` // that user's account, see User; empty if it was stored before accounts had ids
	Roles   []string  `json:"roles,omitempty"`   // the owner's then; they count if an external provider has the users
	Folder  bool      `json:"folder,omitempty"`  // it comes from the operator's folder
	Version int       `json:"version,omitempty"` // counts its sources and owners from 1; 0 if it was stored before they were counted
	Binding *Binding  `json:"binding,omitempty"` // to the events that start it; nil if none do
	Paused  bool      `json:"paused,omitempty"`  // events wait for it
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
}

// Pipelines is the store of pipelines, by name.
type Pipelines interface {
	Records[Pipeline]

	// Changed returns a channel that is closed at the next change, whichever
	// node makes it.
	Changed() <-chan struct{}
}

// A Binding ties a pipeline to the events that start it.
type Binding struct {
	ID          string `json:"id"`
	Pattern     string `json:"pattern"`     // of message keys, see KeyMatches
	Concurrency int    `json:"concurrency"` // runs at the same time; 1 keeps the order of events
	Start       uint64 `json:"start"`       // position of the first event for the pipeline

	Rate float64 `json:"rate,omitempty"` // runs that begin in a second, on each node; 0 means any number
}

// NoListener is the error of a pipeline that is not there, or listens to nothing.
func NoListener(name string) *Error {
	return Errorf(CodePipelineUnknown, "No pipeline of the name %s listens to events.", name)
}

// A Delivery is an event that is handed to a pipeline.
type Delivery struct {
	Message       map[string]any // the event, with correlationId and deliveryCount
	TraceID       string
	CorrelationID string // the same at each delivery of the event
	Hops          int    // how many events led to this one
	Count         int    // how often it was delivered, this time included

	Attempts int       // that have failed before
	First    time.Time // when the first of them began; zero if there were none
}

// An Outcome is what a pipeline has made of an event.
type Outcome struct {
	Pipeline   string          `json:"pipeline"`
	Status     Status          `json:"status"` // ok or error; processing: this attempt failed, and another is due
	StatusCode int             `json:"statusCode"`
	Value      json.RawMessage `json:"value,omitempty"`
	Error      *Problem        `json:"error,omitempty"`
	Said       *Said           `json:"said,omitempty"` // what the caller may know of the error
	Attempts   int             `json:"attempts"`
	Finished   time.Time       `json:"finished"`

	Next     time.Time `json:"-"` // when another attempt is due, if it is processing
	Recovers bool      `json:"-"` // the event waits for its target, and follows when that is back
}

// AppendJSON appends the outcome's JSON, as encoding/json would write it.
func (o *Outcome) AppendJSON(b []byte) []byte {
	b = appendField(b, `{"pipeline":`, o.Pipeline)
	b = appendField(b, `,"status":`, string(o.Status))
	b = appendNumber(b, `,"statusCode":`, o.StatusCode)
	if o.Value != nil {
		b = append(b, `,"value":`...)
		b = append(b, o.Value...)
	}
	if o.Error != nil {
		b = append(b, `,"error":`...)
		b = appendJSON(b, o.Error)
	}
	if o.Said != nil {
		b = append(b, `,"said":`...)
		b = appendJSON(b, o.Said)
	}
	b = appendNumber(b, `,"attempts":`, o.Attempts)
	b = append(b, `,"finished":"`...)
	b = o.Finished.AppendFormat(b, time.RFC3339Nano)
	return append(b, `"}`...)
}

// A Queue hands events to the pipelines that they start.
type Queue interface {
	// Bind returns a binding for all events accepted from now on. It is on
	// stable storage, and holds until Unbind.
	Bind(ctx context.Context, pattern string, concurrency int) (*Binding, error)

	// Unbind ends a binding. Events no longer wait for it.
	Unbind(ctx context.Context, b *Binding) error

	// Consume hands the events of a pipeline to run until ctx ends, and returns
	// when all runs have ended. Each event is handed out, on one node at a time,
	// until its outcome is on stable storage. If run returns an outcome that is
	// processing, the number of attempts is stored, and the event waits for the
	// next one without a slot of the pipeline, unless order counts. If run returns
	// an error, that was no attempt: the event is handed out again soon. While the
	// engine can't be reached, Consume keeps trying.
	Consume(ctx context.Context, p *Pipeline, run func(Delivery) (Outcome, error))
}

// WaitingEvents are the events that wait for another attempt of a pipeline.
type WaitingEvents interface {
	// Retry makes those of a query due now, and returns how many.
	Retry(q RetryQuery) int
}

// A RetryQuery selects events that wait for another attempt.
type RetryQuery struct {
	Pipeline string    // empty means any
	TraceID  string    // empty means any
	Code     string    // of the last attempt's error; empty means any
	Since    time.Time // when the first attempt began; zero means any time
	DryRun   bool      // only counts them
	Cover    Cover     // only events of pipelines within it
}

// A DeadLetter is an event that a pipeline failed on for good.
type DeadLetter struct {
	Letter        string          `json:"letter"` // its id
	Pipeline      string          `json:"pipeline"`
	TraceID       string          `json:"traceId"`
	CorrelationID string          `json:"correlationId,omitempty"`
	EventKey      string          `json:"eventKey,omitempty"`
	Error         Problem         `json:"error"`
	Attempts      int             `json:"attempts"`
	Time          time.Time       `json:"time"`
	EventCut      bool            `json:"eventCut,omitempty"` // the event was too large to be kept in the letter
	Event         json.RawMessage `json:"event,omitempty"`
}

// A DeadLetterQuery selects dead letters, newest first.
type DeadLetterQuery struct {
	Letter   string    // this one only
	Pipeline string    // empty means any
	Code     string    // of the error; empty means any
	From, To time.Time // zero means unbounded
	Oldest   bool      // the oldest first
	Limit    int
	Before   string // cursor: where the page before it ended
	Cover    Cover  // letters whose pipeline or event is outside of it are not there
}

// Covers reports whether a letter is there.
func (q *DeadLetterQuery) Covers(l *DeadLetter) bool {
	return q.Cover.Name(l.Pipeline) && (q.Cover.Whole() || l.EventKey != "" && q.Cover.Event(l.EventKey))
}

// A DeadLetterGroup counts the dead letters of a pipeline that have the same error.
type DeadLetterGroup struct {
	Pipeline string    `json:"pipeline"`
	Code     string    `json:"code"`
	Count    int       `json:"count"`
	First    time.Time `json:"first"`
	Last     time.Time `json:"last"`
}

// DeadLetters keeps the events that pipelines failed on.
type DeadLetters interface {
	// Letters returns the dead letters of a query, and the cursor behind them
	// if there may be more.
	Letters(ctx context.Context, q DeadLetterQuery) (letters []DeadLetter, next string, err error)

	// Groups counts the dead letters of a query by pipeline and error, the
	// largest group first.
	Groups(ctx context.Context, q DeadLetterQuery) ([]DeadLetterGroup, error)

	// Drop deletes a dead letter, NotFound if there is none.
	Drop(ctx context.Context, letter string) error
}

// A Secret is a value that pipelines use and nobody reads back.
type Secret struct {
	Name    string    `json:"name"`
	Value   string    `json:"value"`
	Updated time.Time `json:"updated"`
	Used    time.Time `json:"used,omitzero"` // last, to the minute
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

// Failed reports whether the event had failed.
func (i *TryItem) Failed() bool { return i.Was != nil && i.Was.Status == StatusError }
