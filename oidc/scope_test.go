package oidc

import (
	"slices"
	"testing"
)

// TestNoGrantForgetsTheScope: whatever the grant, a scope that no scope can be is
// refused. A grant that is not in this table is one that nobody has tried.
func TestNoGrantForgetsTheScope(t *testing.T) {
	f := newFixture(t)
	forms := map[string][]string{
		"password":           {"client_id", publicID, "username", userName, "password", userPassword},
		"refresh_token":      {"client_id", publicID, "refresh_token", f.login("openid").str("refresh_token")},
		"client_credentials": {"client_id", secretID, "client_secret", robotSecret},
		"authorization_code": {"client_id", publicID, "code", "x"},
	}
	for name, grant := range f.grants {
		if forms[name] == nil || grant.scope == nil {
			t.Errorf("the scope of the grant %s is not checked", name)
			continue
		}
		asked := append(slices.Clone(forms[name]), "grant_type", name, "scope", `open"id`)
		if r := f.post("token", asked...); r.status != 400 || r.str("error") != "invalid_scope" {
			t.Errorf("%s: answered %d %s", name, r.status, r.text)
		}
	}
}
