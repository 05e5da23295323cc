package iam

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sluice"
	"sluice/command"
)

// countOf returns how many entries of a command are in the audit log, and how many
// calls they stand for.
func countOf(t *testing.T, d *Directory, name string) (entries, calls int) {
	t.Helper()
	found, next, err := d.Audit.Entries(t.Context(), sluice.AuditQuery{Command: name, Limit: 1000})
	if err != nil || next != "" {
		t.Fatal(next, err)
	}
	for _, e := range found {
		calls += max(1, e.Count)
	}
	return len(found), calls
}

// TestRefusalsAreCounted: a user who is refused again and again fills no audit
// log, and every refusal is accounted for. So it is with failures and logins.
func TestRefusalsAreCounted(t *testing.T) {
	d := newDirectory(t)
	must(t, d, "admin", "iam.user.put", `{"username":"vi","password":"correct horse","roles":["viewer"]}`)
	must(t, d, "admin", "iam.user.put", `{"username":"al","password":"correct horse","roles":["viewer"]}`)
	const calls, most = 300, 25
	for range calls {
		_, err := call(t, d, "vi", "iam.user.get", `{}`)
		wantCode(t, err, sluice.Forbidden, "forbidden")
	}
	for range calls {
		_, err := call(t, d, "al", "iam.password.set", `{"password":"correct horse"}`)
		wantCode(t, err, sluice.Invalid, "parameter-missing")
		d.NoteLogin(t.Context(), sluice.Login{Grant: "refresh_token", ClientID: clientName, Username: "al", Address: "192.0.2.1", Outcome: sluice.Granted})
	}
	d.FlushAudit(t.Context())
	for _, name := range []string{"iam.user.get", "iam.password.set", "login"} {
		if entries, stand := countOf(t, d, name); entries > most || stand != calls {
			t.Errorf("%d entries stand for %d calls of %s, want at most %d for %d", entries, stand, name, most, calls)
		}
	}
	for range calls / 10 { // changes are all there
		must(t, d, "admin", "iam.role.put", `{"role":"auditor","permissions":["audit.get"]}`)
	}
	if entries, _ := countOf(t, d, "iam.role.put"); entries != calls/10 {
		t.Errorf("%d of %d changes are in the audit log", entries, calls/10)
	}
}

// TestEachUsedSecretIsNamed: however many entries a user makes, the audit log says which secrets were used,
// and where they went.
func TestEachUsedSecretIsNamed(t *testing.T) {
	d := newDirectory(t)
	const secrets = 60 // more than the entries that a user may make at once
	for i := range secrets {
		d.Note(t.Context(), sluice.AuditEntry{
			Username: "sue", Command: "secret.use", Target: fmt.Sprintf("key%d example.com", i),
			Outcome: sluice.AuditAllowed, Access: true,
		})
	}
	d.FlushAudit(t.Context())
	found, _, err := d.Audit.Entries(t.Context(), sluice.AuditQuery{Command: "secret.use", Limit: 2 * secrets})
	if err != nil {
		t.Fatal(err)
	}
	named := make(map[string]bool)
	for _, e := range found {
		named[e.Target] = true
	}
	if len(named) != secrets || named[""] {
		t.Errorf("%d of %d secrets are named", len(named), secrets)
	}
}

// TestSeenPayloadsAreCounted: the first look is in the audit log at once, the
// others of the same minute in one entry; what pipelines read is not.
func TestSeenPayloadsAreCounted(t *testing.T) {
	d := newDirectory(t)
	ctx := sluice.WithUser(t.Context(), sluice.User{Name: "sue", Address: "192.0.2.1"})
	for range 10 {
		d.NotePayload(ctx, "trace.get", "abcdef:0123456789")
		d.NotePayload(sluice.WithRun(ctx, &sluice.Run{}), "event.receive", "webhook.a")
	}
	if entries, calls := countOf(t, d, "trace.get"); entries != 1 || calls != 1 {
		t.Errorf("%d entries for %d calls at first", entries, calls)
	}
	d.FlushAudit(t.Context())
	if entries, calls := countOf(t, d, "trace.get"); entries != 2 || calls != 10 {
		t.Errorf("%d entries for %d calls", entries, calls)
	}
	if entries, _ := countOf(t, d, "event.receive"); entries != 0 {
		t.Errorf("%d entries are about what a pipeline read", entries)
	}
	wantAudit(t, d, sluice.AuditQuery{Limit: 1}, "sue trace.get abcdef:0123456789 allowed trace.payload 192.0.2.1")
}

// TestCountedEntriesStandInTheirPlace: an entry that stands for several has the time
// of the last one, and is stored later than others that came since.
func TestCountedEntriesStandInTheirPlace(t *testing.T) {
	d := newDirectory(t)
	began := now().Add(-time.Hour)
	at := func(seconds int) time.Time { return began.Add(time.Duration(seconds) * time.Second) }
	for _, e := range []sluice.AuditEntry{
		{Target: "first", Time: at(0)},
		{Target: "second", Time: at(30)},
		{Target: "third", Time: at(40)},
		{Target: "counted", Time: at(10), Count: 6},
		{Target: "last", Time: at(70)},
	} {
		e.Command = "x"
		if err := d.Audit.Record(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	for arguments, want := range map[string]string{
		`{}`:          "last third second counted first",
		`{"limit":2}`: "last counted, third second, first",
		`{"from":"` + at(20).Format(time.RFC3339Nano) + `"}`:                                                          "last third second",
		`{"from":"` + at(20).Format(time.RFC3339Nano) + `","to":"` + at(50).Format(time.RFC3339Nano) + `","limit":1}`: "third, second",
		`{"to":"` + at(20).Format(time.RFC3339Nano) + `"}`:                                                            "counted first",
	} {
		var pages []string
		for next, more := "", true; more; {
			given := strings.Replace(arguments, "{", `{"command":"x","after":"`+next+`",`, 1)
			answer := must(t, d, "admin", "audit.get", strings.Replace(given, ",}", "}", 1))
			var page []string
			for _, item := range answer["items"].([]any) {
				page = append(page, item.(map[string]any)["target"].(string))
			}
			if len(page) > 0 {
				pages = append(pages, strings.Join(page, " "))
			}
			next, more = answer["next"].(string)
		}
		if got := strings.Join(pages, ", "); got != want {
			t.Errorf("%s gives %s, want %s", arguments, got, want)
		}
	}
}

// TestATallyIsEnteredByItself after a minute.
func TestATallyIsEnteredByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		entered := make(chan sluice.AuditEntry, 2)
		tally := newTally(func(_ context.Context, e sluice.AuditEntry) { entered <- e })
		tally.add(sluice.AuditEntry{Username: "vi", Command: "a", Target: "x"})
		tally.add(sluice.AuditEntry{Username: "vi", Command: "a", Target: "y"})
		synctest.Wait()
		if len(entered) != 0 {
			t.Errorf("entered at once: %v", <-entered)
		}
		time.Sleep(tallyTime)
		synctest.Wait()
		if len(entered) != 1 {
			t.Fatalf("entered %d times", len(entered))
		}
		if e := <-entered; e.Count != 2 || e.Target != "" {
			t.Errorf("entered: %+v", e)
		}
	})
}

// TestThePipelineIsInTheAuditLog: what a pipeline does is entered with its name and
// owner, and who made it do so.
func TestThePipelineIsInTheAuditLog(t *testing.T) {
	d := newDirectory(t)
	admin, err := d.User(t.Context(), "admin")
	if err != nil {
		t.Fatal(err)
	}
	set := command.NewSet(d.Note, Commands(d, authenticator(d, d.Login, unobserved)))
	put, _ := set.Find("iam.role.put")
	ctx := sluice.WithRun(sluice.WithUser(t.Context(), admin), &sluice.Run{Pipeline: "helper", OwnerName: "dev", Caller: "ada", TraceID: "abcdef:0123456789"})
	args := command.Args{{Name: "role", Value: "auditor"}, {Name: "permissions", Value: []any{"audit.get"}}}
	if _, err := set.Call(ctx, put, args); err != nil {
		t.Fatal(err)
	}
	entries, _, err := d.Audit.Entries(t.Context(), sluice.AuditQuery{Limit: 1})
	if err != nil || len(entries) != 1 || entries[0].Username != "admin" || entries[0].Pipeline != "helper" || entries[0].Owner != "dev" ||
		entries[0].Caller != "ada" || entries[0].TraceID != "abcdef:0123456789" {
		t.Errorf("%+v, %v", entries, err)
	}
}

// TestAnOwnerIsAnAccount: one of the same name that is made later owns nothing of
// the first one's, be it a user or a client.
func TestAnOwnerIsAnAccount(t *testing.T) {
	d := newDirectory(t)
	for name, how := range map[string]struct{ put, remove, id string }{
		"bob":       {`iam.user.put`, `iam.user.delete`, `{"username":"bob"}`},
		"client:ci": {`iam.client.put`, `iam.client.delete`, `{"clientId":"ci"}`},
	} {
		must(t, d, "admin", how.put, how.id)
		owner, err := d.account(t.Context(), name)
		if err != nil || owner.ID == "" {
			t.Fatal(owner.ID, err)
		}
		p := &sluice.Pipeline{Owner: name, OwnerID: owner.ID, Updated: now()}
		if got, err := d.Owner(t.Context(), p); err != nil || got.Name != name {
			t.Errorf("the owner is %s, %v", got.Name, err)
		}
		must(t, d, "admin", how.remove, how.id)
		_, err = d.Owner(t.Context(), p)
		wantCode(t, err, sluice.Unauthenticated, "owner-gone")
		for began := now(); !now().After(began); {
		}
		must(t, d, "admin", how.put, how.id)
		_, err = d.Owner(t.Context(), p)
		wantCode(t, err, sluice.Unauthenticated, "owner-gone")
	}
}
