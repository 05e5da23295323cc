package iam

import (
	"context"
	"sync"
	"time"

	"sluice"
)

// tallyTime is how long entries are counted before one entry stands for them.
const tallyTime = time.Minute

// A tally counts entries that anybody could flood the audit log with, and enters one for
// all of them from time to time.
type tally struct {
	record func(context.Context, sluice.AuditEntry)

	mu      sync.Mutex
	counted map[tallyKey]*sluice.AuditEntry
	timer   *time.Timer // enters them; nil: there are none
}

// A tallyKey says which entries are counted together. A user has at most one for each
// command, outcome and code; uses of secrets, which are told once an hour, are told of each.
type tallyKey struct{ username, command, outcome, code, secret string }

func keyOf(e sluice.AuditEntry) tallyKey {
	key := tallyKey{username: e.Username, command: e.Command, outcome: e.Outcome, code: e.Code}
	if e.Command == sluice.MayUseSecrets {
		key.secret = e.Pipeline + " " + e.Target
	}
	return key
}

func newTally(record func(context.Context, sluice.AuditEntry)) *tally {
	return &tally{record: record, counted: make(map[tallyKey]*sluice.AuditEntry)}
}

// add counts an entry.
func (t *tally) add(e sluice.AuditEntry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.find(e).Count++
}

// repeated counts an entry if one like it came within the last minute. Otherwise the
// caller must enter it.
func (t *tally) repeated(e sluice.AuditEntry) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, known := t.counted[keyOf(e)]
	if counted := t.find(e); known {
		counted.Count++
	}
	return known
}

// find returns the entry that stands for all of a kind, brought up to date.
func (t *tally) find(e sluice.AuditEntry) *sluice.AuditEntry {
	counted := t.counted[keyOf(e)]
	if counted == nil {
		counted = &e
		t.counted[keyOf(e)] = counted
	}
	if counted.Target != e.Target {
		counted.Target = "" // of several
	}
	if counted.TraceID != e.TraceID {
		counted.TraceID, counted.Caller = "", ""
	}
	counted.Time, counted.Address = e.Time, e.Address
	if t.timer == nil {
		t.timer = time.AfterFunc(tallyTime, func() { t.flush(context.Background()) })
	}
	return counted
}

// flush enters what was counted.
func (t *tally) flush(ctx context.Context) {
	t.mu.Lock()
	counted := t.counted
	t.counted = make(map[tallyKey]*sluice.AuditEntry)
	if t.timer != nil {
		t.timer.Stop()
		t.timer = nil
	}
	t.mu.Unlock()
	for _, e := range counted {
		if e.Count > 0 {
			t.record(ctx, *e)
		}
	}
}
