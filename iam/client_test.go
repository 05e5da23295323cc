package iam

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice"
)

// TestPublicClients: a program on people's machines has no secret, until it is
// said to have one.
func TestPublicClients(t *testing.T) {
	d := newDirectory(t)
	put := func(change string) (public, secret bool, grants []any) {
		t.Helper()
		shown := must(t, d, "admin", "iam.client.put", change)
		client, err := d.Client(t.Context(), "app")
		if err != nil || client == nil {
			t.Fatal(client, err)
		}
		if isPublic := shown["public"] == true; isPublic != (client.Secret == "") {
			t.Errorf("it is shown as %v, and stored with the secret %q", shown, client.Secret)
		}
		grants, _ = shown["grants"].([]any)
		return client.Secret == "", shown["secret"] != nil, grants
	}
	for _, step := range []struct {
		change         string
		public, secret bool
		grants         []any
	}{
		{`{"clientId":"app","public":true}`, true, false, []any{"authorization_code", "refresh_token"}},
		{`{"clientId":"app","redirectUris":["https://app.example.org/cb"]}`, true, false, []any{"authorization_code", "refresh_token"}},
		{`{"clientId":"app","public":false}`, false, true, []any{"authorization_code", "refresh_token"}},
		{`{"clientId":"app","grants":["authorization_code"]}`, false, false, []any{"authorization_code"}},
		{`{"clientId":"app","public":true}`, true, false, []any{"authorization_code"}},
		{`{"clientId":"app","grants":[]}`, true, false, []any{"authorization_code", "refresh_token"}},
		{`{"clientId":"app","grants":[],"public":false}`, false, true, []any{"client_credentials"}},
	} {
		public, secret, grants := put(step.change)
		if public != step.public || secret != step.secret || !cmp.Equal(grants, step.grants) {
			t.Errorf("%s: public %v, a secret is shown %v, grants %v", step.change, public, secret, grants)
		}
	}
	if shown := must(t, d, "admin", "iam.client.get", `{"clientId":"app"}`); !cmp.Equal(shown["redirectUris"], []any{"https://app.example.org/cb"}) {
		t.Errorf("it is shown as %v", shown)
	}
}

// TestDryRuns: what would be stored is checked and shown, and nothing is stored.
func TestDryRuns(t *testing.T) {
	d := newDirectory(t)
	role := must(t, d, "admin", "iam.role.put", `{"role":"test","permissions":["webhook.gett"],"dryRun":true}`)
	if role["role"] != "test" || role["warnings"] == nil {
		t.Errorf("the role would be %v", role)
	}
	client := must(t, d, "admin", "iam.client.put", `{"clientId":"ci","roles":["viewer"],"dryRun":true}`)
	if client["clientId"] != "ci" || client["secret"] != nil {
		t.Errorf("the client would be %v", client)
	}
	for command, arguments := range map[string]string{"iam.role.get": `{"role":"test"}`, "iam.client.get": `{"clientId":"ci"}`} {
		if _, err := call(t, d, "admin", command, arguments); sluice.AsError(err).Kind != sluice.NotFound {
			t.Errorf("%s %s: %v", command, arguments, err)
		}
	}
	must(t, d, "admin", "iam.client.put", `{"clientId":"ci","public":true}`)
	for command, arguments := range map[string][]string{
		"iam.role.put":   {`{"role":"test","permissions":["a b"],"dryRun":true}`, `{"role":"admin","permissions":[],"dryRun":true}`},
		"iam.client.put": {`{"clientId":"new","roles":["nope"],"dryRun":true}`, `{"clientId":"new","grants":["foo"],"dryRun":true}`, `{"clientId":"ci","renew":true,"dryRun":true}`},
	} {
		for _, refused := range arguments {
			if _, err := call(t, d, "admin", command, refused); err == nil {
				t.Errorf("%s takes %s", command, refused)
			}
		}
	}
}
