package iam

import (
	"context"
	"slices"
	"testing"

	"sluice"
	"sluice/jetstream"
)

// edited is an audit log that somebody has edited.
type edited struct {
	sluice.Audit

	edit func([]sluice.AuditEntry) []sluice.AuditEntry
}

func (e edited) Entries(ctx context.Context, q sluice.AuditQuery) ([]sluice.AuditEntry, string, error) {
	entries, next, err := e.Audit.Entries(ctx, q)
	return e.edit(entries), next, err
}

// TestTheAuditLogCanBeChecked: entries that were changed, taken out or put in are found,
// and what the log drops for its age is not missed.
func TestTheAuditLogCanBeChecked(t *testing.T) {
	d := newDirectory(t)
	for range 3 {
		must(t, d, "admin", "iam.role.put", `{"role": "team", "permissions": ["log"]}`)
		_, err := call(t, d, sluice.AnonymousName, "iam.role.put", `{"role": "team", "permissions": ["log"]}`)
		wantCode(t, err, sluice.Forbidden, "forbidden")
	}
	// As another server does, or this one after its next start.
	log := d.Audit.(*jetstream.Audit)
	log.Restart()
	for range 2 {
		must(t, d, "admin", "iam.role.put", `{"role": "team", "permissions": ["log"]}`)
	}
	if got := must(t, d, "admin", "audit.verify", `{}`); got["valid"] != true || got["entries"] != 8.0 || len(got["last"].(string)) != 64 {
		t.Fatalf("an honest log is %v", got)
	}
	find := func(entries []sluice.AuditEntry, outcome string, number int) int {
		return slices.IndexFunc(entries, func(e sluice.AuditEntry) bool { return e.Outcome == outcome && e.Number == number })
	}
	for name, test := range map[string]struct {
		breaks float64
		edit   func([]sluice.AuditEntry) []sluice.AuditEntry
	}{
		"changed": {1, func(all []sluice.AuditEntry) []sluice.AuditEntry {
			all[len(all)-2].Username = "somebody"
			return all
		}},
		"changed with its hash": {1, func(all []sluice.AuditEntry) []sluice.AuditEntry {
			at := len(all) - 1 - slices.IndexFunc(slices.Collect(backward(all)), func(e sluice.AuditEntry) bool { return e.Outcome == sluice.AuditRefused })
			all[at].Username = "somebody"
			all[at].Hash = all[at].Sum()
			return all
		}},
		"taken out": {1, func(all []sluice.AuditEntry) []sluice.AuditEntry {
			at := find(all, sluice.AuditRefused, 2)
			return slices.Delete(all, at, at+1)
		}},
		"the end of a chain taken out": {1, func(all []sluice.AuditEntry) []sluice.AuditEntry {
			at := find(all, sluice.AuditAllowed, 3)
			return slices.Delete(all, at, at+1)
		}},
		"put in": {1, func(all []sluice.AuditEntry) []sluice.AuditEntry {
			return slices.Insert(all, 3, sluice.AuditEntry{Time: all[3].Time, Username: "admin", Command: "iam.user.put", Outcome: sluice.AuditAllowed})
		}},
		"put in twice": {1, func(all []sluice.AuditEntry) []sluice.AuditEntry { return slices.Insert(all, 3, all[3]) }},
		"dropped for its age": {0, func(all []sluice.AuditEntry) []sluice.AuditEntry {
			return all[:len(all)-3]
		}},
	} {
		t.Run(name, func(t *testing.T) {
			honest := d.Audit
			defer func() { d.Audit = honest }()
			d.Audit = edited{honest, test.edit}
			got := must(t, d, "admin", "audit.verify", `{}`)
			if breaks := got["breaks"].([]any); float64(len(breaks)) != test.breaks || got["valid"] != (test.breaks == 0) {
				t.Errorf("it finds %v", got)
			}
		})
	}
}

func backward[T any](list []T) func(func(T) bool) {
	return func(yield func(T) bool) {
		for _, item := range slices.Backward(list) {
			if !yield(item) {
				return
			}
		}
	}
}
