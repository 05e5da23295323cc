package manifest

import (
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"sluice"
	"sluice/client"
	"sluice/config"
	"sluice/serve"
)

// startServer starts a server and returns its client, logged in as the admin.
func startServer(t *testing.T) *client.Client {
	t.Helper()
	const password = "a-short-tour"
	cfg, err := config.Load("", nil, map[string]string{"listen": "127.0.0.1:0", "data": t.TempDir(), "min-free-disk": "1MiB"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := serve.Start(t.Context(), cfg, serve.Options{AdminPassword: password, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	if _, _, err := s.CreateAdmin(t.Context()); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(s.URL(), client.Password("admin", password))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdle)
	return c
}

// folderWith writes files and returns their folder.
func folderWith(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func run(t *testing.T, c *client.Client, command string, params url.Values, body string) {
	t.Helper()
	carried := &client.Body{Content: []byte(body)}
	if body == "" {
		carried = nil
	}
	if _, err := c.Command(t.Context(), command, params, carried); err != nil {
		t.Fatal(err)
	}
}

// TestChangedMeanwhile: what others have changed since the plan was made and shown
// is not overwritten.
func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	c := startServer(t)
	const source = "pipeline: [log: {message: one}]"
	run(t, c, "pipeline.put", url.Values{"name": {"notes"}}, source)
	run(t, c, "webhook.put", url.Values{"eventKey": {"webhook.x"}}, "")
	for name, test := range map[string]struct {
		files  map[string]string
		change func()
	}{
		"a pipeline": {
			map[string]string{"pipelines/notes.yaml": source + "\n"},
			func() {
				run(t, c, "pipeline.put", url.Values{"name": {"notes"}}, "pipeline: [log: {message: two}]")
			},
		},
		"a webhook": {
			map[string]string{"webhooks/webhook.x.yaml": "payloadType: raw"},
			func() {
				hook, err := c.Webhook(t.Context(), "webhook.x")
				if err != nil {
					t.Fatal(err)
				}
				run(t, c, "webhook.put", url.Values{"uuid": {hook.UUID}, "description": {"by another one"}}, "")
			},
		},
	} {
		plan, err := Compare(t.Context(), c, folderWith(t, test.files), Options{})
		if err != nil || len(plan.Changes) != 1 || plan.Changes[0].Action != Update {
			t.Fatalf("%s: the plan is %+v, %v", name, plan, err)
		}
		test.change()
		made, err := plan.Apply(t.Context())
		if len(made) > 0 {
			t.Errorf("%s was overwritten", name)
		}
		if sluice.AsError(err).Code != "changed-meanwhile" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFailedPlanIsUndone: if a write fails, the server is as it was before.
func TestFailedPlanIsUndone(t *testing.T) {
	t.Parallel()
	c := startServer(t)
	const source = "pipeline: [log: {message: %s}]"
	run(t, c, "iam.role.put", url.Values{"role": {"edited"}, "permissions": {"read"}}, "")
	run(t, c, "iam.client.put", url.Values{"clientId": {"edited"}, "roles": {"viewer"}}, "")
	run(t, c, "webhook.put", url.Values{"eventKey": {"webhook.edited"}, "description": {"as it was"}}, "")
	run(t, c, "webhook.put", url.Values{"eventKey": {"webhook.gone"}}, "")
	run(t, c, "webhook.put", url.Values{"eventKey": {"webhook.secret"}, "provider": {"github"}, "signingSecret": {"s3cret"}}, "")
	for _, name := range []string{"edited", "theirs"} {
		run(t, c, "pipeline.put", url.Values{"name": {name}}, fmt.Sprintf(source, "one"))
	}
	dir := folderWith(t, map[string]string{
		"roles/edited.yaml": "permissions: [webhook.get]", "roles/new.yaml": "permissions: [read]",
		"clients/edited.yaml": "roles: [new]", "clients/new.yaml": "roles: [new]",
		"webhooks/webhook.edited.yaml": "payloadType: raw", "webhooks/webhook.new.yaml": "",
		"webhooks/webhook.secret.yaml": "provider: github\npayloadType: raw",
		"pipelines/edited.yaml":        fmt.Sprintf(source, "two"), "pipelines/new.yaml": fmt.Sprintf(source, "two"),
		"pipelines/theirs.yaml": fmt.Sprintf(source, "two"),
	})
	planned := func() *Plan {
		plan, err := Compare(t.Context(), c, dir, Options{Prune: true})
		if err != nil || len(plan.Changes) != 11 {
			t.Fatalf("the plan is %+v, %v", plan, err)
		}
		return plan
	}
	before := planned()
	run(t, c, "pipeline.put", url.Values{"name": {"theirs"}}, fmt.Sprintf(source, "three"))
	made, err := before.Apply(t.Context())
	if e := sluice.AsError(err); e.Code != "changed-meanwhile" ||
		!strings.HasSuffix(e.Message, "What was changed before it is undone.") || len(made) > 0 {
		t.Errorf("%v, and %d changes stay", err, len(made))
	}
	for i, change := range planned().Changes {
		was := before.Changes[i]
		if change.Action != was.Action || change.Name != "theirs" && !reflect.DeepEqual(change.Before, was.Before) {
			t.Errorf("%s %s was %v and is %v", change.Resource, change.Name, was.Before, change.Before)
		}
	}
	if made, err := planned().Apply(t.Context()); err != nil || len(made) != 11 {
		t.Errorf("%d changes are made, %v", len(made), err)
	}
}

// TestRoundTrip: whatever a webhook has, another server gets it from the files, and
// both say the same.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	from, to := startServer(t), startServer(t)
	for _, c := range []*client.Client{from, to} {
		run(t, c, "secret.put", url.Values{"name": {"hub"}, "value": {"stored secret"}}, "")
	}
	for _, params := range []url.Values{
		{"eventKey": {"webhook.plain"}},
		{"eventKey": {"webhook.full"}, "payloadType": {"ignore"}, "maxPayloadLength": {"77"}, "multipart": {"all"}, "disabled": {"true"}, "description": {"two\nlines: #1"}, "schema": {`{"type":"object","properties":{"a":{"maximum":1.5,"const":12345678901}}}`}},
		{"eventKey": {"webhook.preset"}, "provider": {"github"}, "signingSecret": {"secret:hub"}, "dedupe": {"off"}},
		{"eventKey": {"webhook.scheme"}, "signature": {`{"header":"X-Sig","format":"t={timestamp},v1={signature}","signed":"{timestamp}.{body}"}`}, "signingSecret": {"secret:hub"}, "dedupe": {"header:X-Id"}, "dedupeWindow": {"90s"}},
	} {
		run(t, from, "webhook.put", params, "")
	}
	run(t, from, "iam.role.put", url.Values{"role": {"nothing"}, "permissions": {""}}, "")
	run(t, from, "iam.client.put", url.Values{"clientId": {"CI"}, "roles": {"nothing"}, "grants": {"password,refresh_token"}}, "")
	run(t, from, "pipeline.put", url.Values{"name": {"p"}}, "# äöü\r\npipeline: [log: {message: é}]\n")
	dir := t.TempDir()
	done, err := Export(t.Context(), from, dir)
	if err != nil || len(done.Written) != 7 || done.Skipped != nil {
		t.Fatalf("exported %+v, %v", done, err)
	}
	plan, err := Compare(t.Context(), to, dir, Options{Prune: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []*client.Client{from, to} {
		plan, err := Compare(t.Context(), c, dir, Options{Prune: true})
		if err != nil || len(plan.Changes) > 0 {
			for _, change := range plan.Changes {
				before, after := change.Sources()
				t.Errorf("%s %s %s:\n%s\n%s", change.Action, change.Resource, change.Name, before, after)
			}
			t.Errorf("a second time there is something to do: %v", err)
		}
	}
}

// TestTokensAreCheckedBefore: tokens that the server would refuse are refused before anything is changed.
func TestTokensAreCheckedBefore(t *testing.T) {
	t.Parallel()
	c := startServer(t)
	id := func(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }
	for n, key := range []string{"webhook.there", "webhook.other"} {
		run(t, c, "webhook.put", url.Values{"eventKey": {key}, "token": {id(n + 1)}}, "")
	}
	run(t, c, "webhook.token.add", url.Values{"eventKey": {"webhook.other"}, "token": {id(3)}}, "")
	dir := folderWith(t, map[string]string{"webhooks/webhook.there.yaml": "payloadType: raw", "webhooks/webhook.new.yaml": ""})
	open := func(n int, further ...int) tokens {
		kept := tokens{UUID: id(n), Open: true}
		for _, f := range further {
			kept.Further = append(kept.Further, token{Token: id(f)})
		}
		return kept
	}
	closed := open(4)
	closed.Open = false
	for name, test := range map[string]struct {
		tokens Tokens
		code   sluice.Code
	}{
		"of another":         {Tokens{"webhook.there": open(1, 3)}, sluice.CodeTokenTaken},
		"uuid of another":    {Tokens{"webhook.there": open(1, 2)}, sluice.CodeTokenTaken},
		"new, of another":    {Tokens{"webhook.new": open(4, 3)}, sluice.CodeTokenTaken},
		"twice in the file":  {Tokens{"webhook.there": open(1, 5), "webhook.new": open(4, 5)}, sluice.CodeTokenTaken},
		"twice in a webhook": {Tokens{"webhook.new": open(4, 4)}, sluice.CodeTokenTaken},
		"too many":           {Tokens{"webhook.there": open(1, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)}, sluice.CodeTooManyTokens},
		"none":               {Tokens{"webhook.new": closed}, sluice.CodeLastToken},
	} {
		if _, err := Compare(t.Context(), c, dir, Options{Tokens: test.tokens}); !test.code.Is(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	plan, err := Compare(t.Context(), c, dir, Options{Tokens: Tokens{"webhook.there": open(1, 5), "webhook.new": open(4, 6)}})
	if err != nil {
		t.Fatal(err)
	}
	if made, err := plan.Apply(t.Context()); err != nil || len(made) != 2 {
		t.Errorf("%d changes are made, %v", len(made), err)
	}
}
