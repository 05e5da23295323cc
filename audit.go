package sluice

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"
)

// How a call that is in the audit log ended.
const (
	AuditAllowed = "allowed"
	AuditRefused = "refused" // the caller may not
	AuditFailed  = "failed"  // the caller may, and it went wrong
)

// An AuditEntry says who did what to what, from where. It holds no secrets.
type AuditEntry struct {
	Time     time.Time `json:"time" doc:"When it was done."`
	Username string    `json:"username" doc:"Who did it."`
	Address  string    `json:"address" doc:"Where the call came from; empty for what the server did."`
	Command  string    `json:"command" doc:"What was done: a command, login or logout."`
	Target   string    `json:"target,omitempty" doc:"What it was done to, by name."`
	Outcome  string    `json:"outcome" doc:"Refused: the caller may not; failed: it went wrong." enum:"allowed,refused,failed"`
	Access   bool      `json:"-"` // it is a login, a logout, or someone read a payload
	Code     string    `json:"code,omitempty" doc:"Code of the error."`
	Count    int       `json:"count,omitempty" doc:"How many calls it stands for, where they were counted."`
	Pipeline string    `json:"pipeline,omitempty" doc:"The pipeline that did it."`
	Owner    string    `json:"owner,omitempty" doc:"Whose pipeline it is."`
	Caller   string    `json:"caller,omitempty" doc:"Who ran the pipeline; none if an event did."`
	TraceID  string    `json:"traceId,omitempty" doc:"Of the run, or of the call that led to it."`

	// Entries are chained, so that none can be changed, taken out or put in without the
	// others telling. A server begins a chain for each kind of entries when it starts.
	Chain    string `json:"chain,omitempty" doc:"Name of the chain that the entry is in."`
	Number   int    `json:"number,omitempty" doc:"Its place in the chain, from 1."`
	Previous string `json:"previous,omitempty" doc:"Hash of the entry before; of the first, of the newest one that was there."`
	Hash     string `json:"hash,omitempty" doc:"SHA-256 of the JSON of the entry without this member."`
}

// Sum returns the hash of an entry: the SHA-256 of its JSON without the hash.
func (e *AuditEntry) Sum() string {
	plain := *e
	plain.Hash = ""
	return fmt.Sprintf("%x", sha256.Sum256(marshal(plain)))
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
