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
