package iam

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice"
	"sluice/command"
	"sluice/jetstream"
	"sluice/jetstream/natstest"
	"sluice/stretch"
)

func TestMain(m *testing.M) {
	natstest.InMemory()
	stretch.By(5)
	os.Exit(m.Run())
}

// newDirectory returns a directory on a real engine, with an admin whose password
// is "admin-password".
func newDirectory(t testing.TB) *Directory {
	t.Helper()
	engine, err := jetstream.Open(context.Background(), jetstream.Options{
		Dir:           t.TempDir(),
		Box:           natstest.Box,
		EventMaxAge:   time.Hour,
		EventMaxBytes: 64 << 20,
		ResultTTL:     time.Hour,
		Log:           slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(engine.Close)
	d := NewDirectory(DirectoryOptions{
		Accounts: engine.Accounts,
		Roles:    engine.Roles,
		Clients:  engine.Clients,
		Audit:    engine.Audit,
		Log:      slog.New(slog.DiscardHandler),

		UserUsed:       func(string) {},
		ClientUsed:     func(string) {},
		CommandNames:   func() []string { return []string{"webhook.get", "webhook.put", "server.info"} },
		GlobalCommands: func() []string { return []string{"iam.role.put", "server.info"} },

		EndSessions: func(context.Context, string, string) error { return nil },
	})
	if _, _, err := Bootstrap(context.Background(), d.Accounts, "admin-password"); err != nil {
		t.Fatal(err)
	}
	return d
}

// call runs a command as a user, with arguments as JSON.
func call(t testing.TB, d *Directory, username, name, arguments string) (map[string]any, error) {
	t.Helper()
	user, err := d.User(context.Background(), username)
	if err != nil {
		t.Fatal(err)
	}
	user.Address = "192.0.2.1"
	set := command.NewSet(d.Note, Commands(d, authenticator(d, d.Login, unobserved)))
	cmd, ok := set.Find(name)
	if !ok {
		t.Fatalf("there is no command %s", name)
	}
	var values map[string]any
	dec := json.NewDecoder(strings.NewReader(arguments))
	dec.UseNumber()
	if err := dec.Decode(&values); err != nil {
		t.Fatal(err)
	}
	var args command.Args
	for name, value := range values {
		args = append(args, command.Arg{Name: name, Value: value})
	}
	out, err := set.Call(sluice.WithUser(context.Background(), user), cmd, args)
	if err != nil {
		return nil, err
	}
	encoded, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	var answer map[string]any
	_ = json.Unmarshal(encoded, &answer) // lists have no need of it
	return answer, nil
}

// must is call for what has to work.
func must(t testing.TB, d *Directory, username, name, arguments string) map[string]any {
	t.Helper()
	answer, err := call(t, d, username, name, arguments)
	if err != nil {
		t.Fatalf("%s %s as %s: %v", name, arguments, username, err)
	}
	return answer
}

// wantAudit checks entries of the audit log, newest first, each written as
// username, command, target, outcome, code and address.
func wantAudit(t testing.TB, d *Directory, q sluice.AuditQuery, want ...string) {
	t.Helper()
	entries, _, err := d.Audit.Entries(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, strings.Join([]string{e.Username, e.Command, e.Target, e.Outcome, e.Code, e.Address}, " "))
	}
	if !slices.Equal(got, want) {
		t.Errorf("the audit log has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// wantCode checks the kind and code of an error.
func wantCode(t testing.TB, err error, kind sluice.Kind, code string) {
	t.Helper()
	if err == nil {
		t.Fatalf("it succeeded, want %s", code)
	}
	if e := sluice.AsError(err); e.Kind != kind || e.Code != code {
		t.Fatalf("got kind %s, code %s (%v), want kind %s, code %s", e.Kind, e.Code, err, kind, code)
	}
}
