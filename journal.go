package sluice

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"iter"
	"time"
)

// A TraceQuery selects calls, newest first, for a search.
type TraceQuery struct {
	TraceID  string    // a whole one, or the part before the colon; empty means any
	EventKey string    // empty means any
	Pipeline string    // that the event was handed to, or that a user ran; empty means any
	Status   Status    // empty means any
	Code     string    // of the refusal, or of the error of a run; empty means any
	From, To time.Time // zero means unbounded
	Limit    int
	Before   string // cursor: where the page before it ended

	// Text must be in the call, in any case: in its keys, its trace id, its address
	// or its error; where the call is in Known, also in its correlation id and, with
	// InPayload, in its payload.
	Text      string
	InPayload bool

	OnlyPayload bool // the text must be in the payload, and nowhere else

	Cover Cover // calls and runs outside of it are not there
	Known Cover // of calls within it, the user may see what was sent
}

// Journal searches calls, as far back as events are kept.
type Journal interface {
	// Calls returns the calls of a query, and the cursor behind them if there
	// may be more. A call is found as soon as it was answered.
	Calls(ctx context.Context, q TraceQuery) (calls []Call, next string, err error)

	// Reached returns how far back the search that ended with a cursor has looked.
	Reached(ctx context.Context, cursor string) (time.Time, error)

	// Event returns the event that a correlation id leads to, Gone if it is not
	// kept any more.
	Event(ctx context.Context, correlationID string) (Event, error)
}

// A TailQuery selects what a tail reports.
type TailQuery struct {
	TraceID  string // a whole one, or the part before the colon; empty means any
	EventKey string // empty means any
	After    string // the position behind which to start; empty means now

	Cover Cover // calls and runs outside of it are not reported

	// Known is where entries have correlation ids: results can be read with them, so
	// they are for users who may see payloads.
	Known Cover
}

// A TailEntry is a call or a run that a tail reports.
type TailEntry struct {
	Position string          `json:"-"`    // where a resumed tail goes on
	Past     bool            `json:"-"`    // it was before the tail began
	Type     string          `json:"type"` // call or run
	Data     json.RawMessage `json:"data"` // Call or RunReport
}

// A Tail reports calls and runs as they happen, on whichever node.
type Tail interface {
	// Follow returns what happens, until ctx ends or the tail fails, which is
	// its last entry. Invalid if the position to start behind is malformed.
	Follow(ctx context.Context, q TailQuery) (iter.Seq2[TailEntry, error], error)
}

// How many tails are open at the same time, of the API and of the portal each.
const (
	MaxTails        = 64
	MaxTailsPerUser = 8 // so that nobody takes all
)

// An Erasure says that a call was erased: its payload, its headers and its results are gone.
type Erasure struct {
	TraceID    string    `json:"traceId" doc:"Of the call."`
	EventKey   string    `json:"eventKey,omitempty" doc:"Of its webhook."`
	Time       time.Time `json:"time" doc:"When it came."`
	Erased     time.Time `json:"erased,omitzero" doc:"When it was erased."`
	Quarantine string    `json:"quarantine,omitempty" doc:"Id that it had in the quarantine."`
	Events     []uint64  `json:"events,omitempty" doc:"Places of its events in their stream, by which a restore finds them."`
}

// Erasures erase calls.
type Erasures interface {
	// Erase removes the payloads, headers and results of calls from all that is stored,
	// durably, and overwrites them on disk. It keeps the erasures.
	Erase(ctx context.Context, calls []Call) error

	// Apply erases what earlier erasures have erased, as far as it is there.
	Apply(ctx context.Context, erasures []Erasure) error

	// List returns all erasures.
	List() []Erasure
}

// How a call that is in the audit log ended.
const (
	AuditAllowed = "allowed"
	AuditRefused = "refused" // the caller may not
	AuditFailed  = "failed"  // the caller may, and it went wrong
)

// An AuditEntry says who did what to what, from where. It holds no secrets.
type AuditEntry struct {
	Time     time.Time `json:"time"`
	Username string    `json:"username"`
	Address  string    `json:"address"`
	Command  string    `json:"command"`
	Target   string    `json:"target,omitempty"`
	Outcome  string    `json:"outcome"`
	Access   bool      `json:"-"`                  // it is a login, a logout, or someone read a payload
	Code     string    `json:"code,omitempty"`     // of the error
	Count    int       `json:"count,omitempty"`    // calls that this stands for, where they were counted
	Pipeline string    `json:"pipeline,omitempty"` // that did it, and
	Owner    string    `json:"owner,omitempty"`    // whose pipeline it is
	Caller   string    `json:"caller,omitempty"`   // who ran it; empty if an event did
	TraceID  string    `json:"traceId,omitempty"`  // of that run, or of the call that led to the event

	// Entries are chained, so that none can be changed, taken out or put in without the
	// others telling. A server begins a chain for each kind of entries when it starts.
	Chain    string `json:"chain,omitempty"`
	Number   int    `json:"number,omitempty"`   // in the chain, from 1
	Previous string `json:"previous,omitempty"` // hash of the entry before; of the first, of the newest one that was there
	Hash     string `json:"hash,omitempty"`     // see Sum
}

// Sum returns the hash of an entry: the SHA-256 of its JSON without the hash.
func (e *AuditEntry) Sum() string {
	plain := *e
	plain.Hash = ""
	return fmt.Sprintf("%x", sha256.Sum256(appendJSON(nil, plain)))
}

// Change reports whether the entry is about something that was changed. Others, such
// as refusals and logins, are kept apart, since anybody can make many of them.
func (e *AuditEntry) Change() bool { return e.Outcome == AuditAllowed && !e.Access }

// An AuditQuery selects entries of the audit log, newest first.
type AuditQuery struct {
	From, To time.Time // zero means unbounded
	Username string    // empty means any
	Command  string    // empty means any
	Outcome  string    // empty means any
	Limit    int
	Before   string // cursor: where the page before it ended
}

// Audit is the audit log.
type Audit interface {
	// Record returns once the entry is on stable storage.
	Record(ctx context.Context, e AuditEntry) error

	// Entries returns the entries of a query, and the cursor behind them if
	// there may be more.
	Entries(ctx context.Context, q AuditQuery) (entries []AuditEntry, next string, err error)
}
