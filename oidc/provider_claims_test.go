package oidc

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClaims(t *testing.T) {
	claims := map[string]any{
		"sub": "42", "email": "a@b.example", "email_verified": true, "name": "Anna",
		"groups": []any{"one", 2, "three"}, "role": "single", "https://x.example/roles": []any{"deep"},
		"realm_access": map[string]any{"roles": []any{"admin"}, "text": "x"},
	}
	for path, want := range map[string][]string{
		"groups": {"one", "three"}, "role": {"single"}, "realm_access.roles": {"admin"}, "https://x.example/roles": {"deep"},
		"": {}, "missing": {}, "realm_access": {}, "realm_access.missing": {}, "role.inner": {}, ".": {}, "groups.0": {},
	} {
		if diff := cmp.Diff(want, rolesAt(claims, path)); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
	for _, test := range []struct {
		claim string
		drop  []string
		want  string
	}{
		{"name", nil, "Anna"},
		{"missing", nil, ""},
		{"", nil, "a@b.example"},
		{"preferred_username", nil, "a@b.example"},
		{"", []string{"email_verified"}, "42"},
		{"", []string{"email", "sub"}, ""},
	} {
		some := maps.Clone(claims)
		for _, name := range test.drop {
			delete(some, name)
		}
		id, ok := NewProvider(ProviderOptions{UsernameClaim: test.claim}).identity(some)
		if id.Username != test.want || ok != (test.want != "") {
			t.Errorf("%q without %v gives %q", test.claim, test.drop, id.Username)
		}
	}
}
