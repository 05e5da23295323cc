package jetstream

import (
	"fmt"
	"testing"
	"time"

	"sluice"
)

// TestRefusalsDontDriveOutChanges: changes stay in the audit log however many attempts were
// refused since. Both are read together, newest first.
func TestRefusalsDontDriveOutChanges(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Options{Dir: t.TempDir()})
	config := e.Audit.stream.CachedInfo().Config
	config.MaxMsgsPerSubject = 10 // as if it were full
	if _, err := e.Audit.host.JS.UpdateStream(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	record := func(entry sluice.AuditEntry) {
		t.Helper()
		entry.Time = time.Now().UTC()
		if err := e.Audit.Record(t.Context(), entry); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 5 {
		record(sluice.AuditEntry{Username: "admin", Command: "iam.user.put", Target: fmt.Sprint(i), Outcome: sluice.AuditAllowed})
	}
	for i := range 100 {
		record(sluice.AuditEntry{Username: "vi", Command: "iam.user.get", Target: fmt.Sprint(i), Outcome: sluice.AuditRefused})
		record(sluice.AuditEntry{Username: "vi", Command: "iam.password.set", Outcome: sluice.AuditFailed})
		record(sluice.AuditEntry{Username: "vi", Command: "login", Outcome: sluice.AuditAllowed, Access: true})
	}
	record(sluice.AuditEntry{Username: "admin", Command: "iam.user.put", Target: "5", Outcome: sluice.AuditAllowed})
	var targets []string
	for q := (sluice.AuditQuery{Limit: 4}); ; {
		entries, next, err := e.Audit.Entries(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			if entry.Username == "admin" {
				targets = append(targets, entry.Target)
			}
		}
		if q.Before = next; next == "" {
			break
		}
	}
	if got := fmt.Sprint(targets); got != "[5 4 3 2 1 0]" {
		t.Errorf("of the changes %s are left", got)
	}
}
