package step_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"sluice"
	"sluice/command"
	"sluice/step"
)

func newSecrets(t *testing.T) *step.Secrets {
	t.Helper()
	return step.NewSecrets(newStored[sluice.Secret](), func(string) {})
}

func TestASecretIsPutListedRevealedAndDeleted(t *testing.T) {
	secrets := newSecrets(t)
	set := newSet(step.Options{Secrets: secrets})
	for _, put := range []args{{"name": "b", "value": "old"}, {"name": "a.b-C_1", "value": "x"}, {"name": "b", "value": "new"}} {
		got, err := call(t.Context(), set, "secret.put", put)
		if err != nil || asJSON(t, got) != fmt.Sprintf(`{"name":%q}`, put["name"]) {
			t.Fatalf("put gives %s, %v", asJSON(t, got), err)
		}
	}
	if value, err := secrets.Reveal(t.Context(), "b"); err != nil || value != "new" {
		t.Errorf("b is %q, %v", value, err)
	}
	listed, err := call(t.Context(), set, "secret.get", nil)
	if err != nil {
		t.Fatal(err)
	}
	items, _ := listed.(command.Paged).Page()
	var views []map[string]any
	if err := json.Unmarshal([]byte(asJSON(t, items)), &views); err != nil {
		t.Fatal(err)
	}
	if len(views) != 2 || views[0]["name"] != "a.b-C_1" || views[1]["name"] != "b" || len(views[0]) != 2 || views[0]["updated"] == "" {
		t.Errorf("the list is %v", views)
	}
	one, err := call(t.Context(), set, "secret.get", args{"name": "b"})
	if text := asJSON(t, one); err != nil || !strings.HasPrefix(text, `{"name":"b","updated":"`) || strings.Contains(text, "new") {
		t.Errorf("b is shown as %s, %v", text, err)
	}
	_, err = call(t.Context(), set, "secret.get", args{"name": "B"})
	refuses(t, err, sluice.NotFound, "secret-unknown", "Did you mean b?")
	if got, err := call(t.Context(), set, "secret.delete", args{"name": "b"}); err != nil || asJSON(t, got) != `{"name":"b","deleted":true}` {
		t.Errorf("delete gives %s, %v", asJSON(t, got), err)
	}
	_, err = secrets.Reveal(t.Context(), "b")
	refuses(t, err, sluice.NotFound, "secret-unknown", `"b"`)
}

// TestASecretInUse is deleted only if that is wanted, and shows what uses it.
func TestASecretInUse(t *testing.T) {
	users := sluice.SecretUsers{Pipelines: []string{"a"}}
	set := newSet(step.Options{Secrets: newSecrets(t), UsersOf: func(secret string) sluice.SecretUsers {
		if secret != "used" {
			return sluice.SecretUsers{}
		}
		return users
	}})
	for _, name := range []string{"used", "unused"} {
		if _, err := call(t.Context(), set, "secret.put", args{"name": name, "value": "x"}); err != nil {
			t.Fatal(err)
		}
		one, err := call(t.Context(), set, "secret.get", args{"name": name})
		if got := strings.Contains(asJSON(t, one), `"usedBy":{"pipelines":["a"]}`); err != nil || got != (name == "used") {
			t.Errorf("%s is shown as %s, %v", name, asJSON(t, one), err)
		}
	}
	_, err := call(t.Context(), set, "secret.delete", args{"name": "used"})
	refuses(t, err, sluice.Conflict, "secret-in-use", "by the pipeline a. ")
	get, _ := set.Find("secret.get")
	blind := sluice.WithUser(t.Context(), sluice.User{Name: "blind", Permissions: []string{"secret.get"}})
	if one, err := set.Call(blind, get, command.Args{{Name: "name", Value: "used"}}); err != nil || !strings.Contains(asJSON(t, one), `"usedBy":{"pipelines":["…"]}`) {
		t.Errorf("who may not see pipelines is shown %s, %v", asJSON(t, one), err)
	}
	users = sluice.SecretUsers{Webhooks: []string{"a", "b", "c", "d", "e"}}
	_, err = call(t.Context(), set, "secret.delete", args{"name": "used"})
	refuses(t, err, sluice.Conflict, "secret-in-use", "by the webhooks a, b, c and 2 more. ")
	for _, given := range []args{{"name": "used", "force": true}, {"name": "unused"}} {
		if _, err := call(t.Context(), set, "secret.delete", given); err != nil {
			t.Error(err)
		}
	}
}

func asJSON(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestBadSecretsAreRefused(t *testing.T) {
	secrets := newSecrets(t)
	set := newSet(step.Options{Secrets: secrets})
	if _, err := call(t.Context(), set, "secret.put", args{"name": "crm.token", "value": strings.Repeat("x", 64<<10)}); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		command string
		args    args
		kind    sluice.Kind
		code    string
		says    string
	}{
		"no name":            {"secret.put", args{"name": "", "value": "x"}, sluice.Invalid, "parameter-invalid", "name"},
		"a name with a path": {"secret.put", args{"name": "../x", "value": "x"}, sluice.Invalid, "parameter-invalid", "name"},
		"a name with a line": {"secret.put", args{"name": "x\n", "value": "x"}, sluice.Invalid, "parameter-invalid", "name"},
		"a long name":        {"secret.put", args{"name": strings.Repeat("x", 129), "value": "x"}, sluice.Invalid, "parameter-invalid", "name"},
		"no value":           {"secret.put", args{"name": "x", "value": ""}, sluice.Invalid, "parameter-invalid", "value"},
		"a long value":       {"secret.put", args{"name": "x", "value": strings.Repeat("x", 64<<10+1)}, sluice.Invalid, "parameter-invalid", "value"},
		"bytes":              {"secret.put", args{"name": "x", "value": command.Text("\xff")}, sluice.Invalid, "parameter-invalid", "value"},
		"an unknown one":     {"secret.delete", args{"name": "crm.tokn"}, sluice.NotFound, "secret-unknown", "Did you mean crm.token?"},
		"one far off":        {"secret.delete", args{"name": "something.else"}, sluice.NotFound, "secret-unknown", "secret.put stores one"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := call(t.Context(), set, test.command, test.args)
			refuses(t, err, test.kind, test.code, test.says)
		})
	}
}

// TestASecretShowsNowhere: its value is in no error, log, audit entry or list.
// What an author writes into a message on purpose, the run hides.
func TestASecretShowsNowhere(t *testing.T) {
	const canary = "canary-\"5\n1f\"-value"
	var seen, log bytes.Buffer
	secrets := newSecrets(t)
	audit := func(_ context.Context, e sluice.AuditEntry) { fmt.Fprintf(&seen, "%+v\n", e) }
	set := command.NewSet(audit, step.Commands(step.Options{
		Secrets: secrets,
		UsersOf: func(string) sluice.SecretUsers { return sluice.SecretUsers{} },
		Log:     slog.New(slog.NewTextHandler(&log, nil)),
	}))
	note := func(name string, given args) {
		out, err := call(t.Context(), set, name, given)
		fmt.Fprintf(&seen, "%s: %+v %v\n", name, out, err)
	}
	note("secret.put", args{"name": "crm", "value": canary})
	note("secret.put", args{"name": "../crm", "value": canary})
	note("secret.put", args{"name": "crm", "value": strings.Repeat(canary, 10_000)})
	note("secret.get", nil)
	if value, err := secrets.Reveal(t.Context(), "crm"); err != nil || value != canary {
		t.Fatalf("got %q, %v", value, err)
	}
	note("http.request", args{"url": "https://user:" + canary + "@localhost"})
	note("http.request", args{"url": "http://localhost:1/?key=" + strings.TrimRight(canary, "\n")})
	note("http.request", args{"url": "http://localhost:1/", "headers": object{"authorization": canary}})
	note("http.request", args{"url": "http://localhost:1/", "headers": object{canary: "x"}})
	note("http.request", args{"url": canary})
	note("convert.fromJson", args{"input": canary})
	note("convert.fromYaml", args{"input": "[" + canary})
	note("convert.fromCsv", args{"input": canary})
	note("convert.fromBase64", args{"input": canary})
	note("secret.delete", args{"name": "crm2"})
	for name, text := range map[string]string{"answers": seen.String(), "log": log.String()} {
		for _, part := range []string{"canary", "-value", base64.StdEncoding.EncodeToString([]byte(canary))[:12]} {
			if strings.Contains(text, part) {
				t.Errorf("%s have %q:\n%s", name, part, text)
			}
		}
	}
}
