package iam

import (
	"slices"
	"testing"

	"sluice"
)

// TestRolesWithAScope: parameters that are not given stay; like leaves out permissions that can't
// be scoped, and given by name these are refused.
func TestRolesWithAScope(t *testing.T) {
	d := newDirectory(t)
	must(t, d, "admin", "iam.role.put", `{"role": "model", "permissions": ["webhook.*", "secret.use", "server.info"]}`)
	made := must(t, d, "admin", "iam.role.put", `{"role": "partner-dev", "like": "model", "scope": ["partner", "partner"]}`)
	if got := asStrings(made["permissions"]); !slices.Equal(got, []string{"secret.use", "webhook.*"}) {
		t.Errorf("the permissions are %q", got)
	}
	kept := must(t, d, "admin", "iam.role.put", `{"role": "partner-dev", "scope": "partner,other.team"}`)
	if !slices.Equal(asStrings(kept["permissions"]), asStrings(made["permissions"])) || !slices.Equal(asStrings(kept["scope"]), []string{"other.team", "partner"}) {
		t.Errorf("with another scope it is %v", kept)
	}
	kept = must(t, d, "admin", "iam.role.put", `{"role": "partner-dev", "permissions": ["webhook.get"]}`)
	if !slices.Equal(asStrings(kept["scope"]), []string{"other.team", "partner"}) {
		t.Errorf("with other permissions it is %v", kept)
	}
	if freed := must(t, d, "admin", "iam.role.put", `{"role": "partner-dev", "scope": []}`); freed["scope"] != nil {
		t.Errorf("without a scope it is %v", freed)
	}
	for arguments, parameter := range map[string]string{
		`{"role": "r"}`: "permissions",
		`{"role": "r", "permissions": ["log"], "like": "model"}`:              "like",
		`{"role": "r", "like": "mode"}`:                                       "like",
		`{"role": "r", "like": "admin", "scope": ["partner"]}`:                "like",
		`{"role": "r", "permissions": ["*"], "scope": ["partner"]}`:           "scope",
		`{"role": "r", "permissions": ["iam.*"], "scope": ["partner"]}`:       "scope",
		`{"role": "r", "permissions": ["read"], "scope": ["partner"]}`:        "scope",
		`{"role": "r", "permissions": ["metrics.get"], "scope": ["partner"]}`: "scope",
		`{"role": "r", "permissions": ["run.as:*"], "scope": ["partner"]}`:    "scope",
		`{"role": "developer", "scope": ["partner"]}`:                         "scope",
		`{"role": "r", "permissions": ["log"], "scope": ["webhook.partner"]}`: "scope",
		`{"role": "r", "permissions": ["log"], "scope": ["webhook"]}`:         "scope",
		`{"role": "r", "permissions": ["log"], "scope": ["sluice.alert"]}`:    "scope",
		`{"role": "r", "permissions": ["log"], "scope": ["partner.*"]}`:       "scope",
		`{"role": "r", "permissions": ["log"], "scope": ["a..b"]}`:            "scope",
	} {
		_, err := call(t, d, "admin", "iam.role.put", arguments)
		if e := sluice.AsError(err); err == nil || e.Kind != sluice.Invalid || e.Parameter != parameter {
			t.Errorf("%s is answered with %v about %q, want %q", arguments, err, e.Parameter, parameter)
		}
	}
}

func asStrings(list any) (texts []string) {
	items, _ := list.([]any)
	for _, item := range items {
		texts = append(texts, item.(string))
	}
	return texts
}

// TestNobodyGivesMoreThanTheirScope: neither a permission everywhere that one has somewhere
// only, nor another scope.
func TestNobodyGivesMoreThanTheirScope(t *testing.T) {
	d := newDirectory(t)
	must(t, d, "admin", "iam.role.put", `{"role": "users", "permissions": ["iam.*"]}`)
	must(t, d, "admin", "iam.role.put", `{"role": "partner", "permissions": ["webhook.*"], "scope": ["partner"]}`)
	must(t, d, "admin", "iam.role.put", `{"role": "hooks", "permissions": ["webhook.*"]}`)
	must(t, d, "admin", "iam.role.put", `{"role": "stripe", "permissions": ["webhook.*"], "scope": ["stripe"]}`)
	must(t, d, "admin", "iam.user.put", `{"username": "ada", "password": "ada's own password", "roles": ["users", "partner"]}`)
	must(t, d, "ada", "iam.user.put", `{"username": "bob", "roles": ["partner"]}`)
	must(t, d, "ada", "iam.role.put", `{"role": "orders", "permissions": ["webhook.get"], "scope": ["partner.orders"]}`)
	for command, arguments := range map[string]string{
		"iam.user.put":    `{"username": "bob", "roles": ["hooks"]}`,
		"iam.client.put":  `{"clientId": "c", "roles": ["stripe"]}`,
		"iam.role.put":    `{"role": "orders", "scope": ["partners"]}`,
		"iam.role.delete": `{"role": "stripe"}`,
	} {
		_, err := call(t, d, "ada", command, arguments)
		wantCode(t, err, sluice.Forbidden, "forbidden")
	}
	_, err := call(t, d, "ada", "iam.role.put", `{"role": "orders", "scope": []}`)
	wantCode(t, err, sluice.Forbidden, "forbidden")
}

// TestAScopeCountsAtOnce: rights are kept for many calls, and a changed role replaces them.
func TestAScopeCountsAtOnce(t *testing.T) {
	d := newDirectory(t)
	must(t, d, "admin", "iam.role.put", `{"role": "team", "permissions": ["webhook.get", "trace.payload"], "scope": ["partner"]}`)
	must(t, d, "admin", "iam.role.put", `{"role": "later", "permissions": ["log"]}`)
	must(t, d, "admin", "iam.user.put", `{"username": "ada", "password": "ada's own password", "roles": ["team", "later"]}`)
	covers := func(want bool, keys ...string) {
		t.Helper()
		user, err := d.User(t.Context(), "ada")
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range keys {
			if got := user.CoverOf("webhook.get", true).Event(key); got != want {
				t.Errorf("%s is covered: %t", key, got)
			}
		}
	}
	covers(true, "webhook.partner", "webhook.partner.a", "partner.a", "webhook.partner.#", "webhook.partner.*")
	covers(false, "webhook.partners", "webhook.stripe", "webhook.#", "webhook.*.a", "#", "*.partner", "webhook", "")
	must(t, d, "admin", "iam.role.put", `{"role": "team", "scope": ["stripe"]}`)
	covers(false, "webhook.partner")
	covers(true, "webhook.stripe")
	must(t, d, "admin", "iam.role.put", `{"role": "later", "permissions": ["webhook.get"]}`)
	covers(true, "webhook.partner", "webhook.#")
	must(t, d, "admin", "iam.role.delete", `{"role": "later"}`)
	covers(false, "webhook.partner")
}

// TestPipelinesOfAUserThatTheProviderDrops: they keep the roles that their owner had when
// they were stored, as the roles are now: with other scopes at once, and with nothing once
// they are deleted.
func TestPipelinesOfAUserThatTheProviderDrops(t *testing.T) {
	d := newDirectory(t)
	d.External = true
	must(t, d, "admin", "iam.role.put", `{"role": "partner-dev", "permissions": ["event.listen", "secret.use"], "scope": ["partner"]}`)
	anna, err := d.Identify(t.Context(), sluice.Identity{Username: "anna@example.com", Roles: []string{"partner-dev", "unknown-here"}})
	if err != nil || !anna.Cover("event.listen").Event("webhook.partner.a") || anna.Cover("event.listen").Event("webhook.stripe") {
		t.Fatalf("by her claim she is %+v, %v", anna, err)
	}
	stored := &sluice.Pipeline{Owner: anna.Name, Roles: anna.Roles}
	owns := func(want bool, secret string) {
		t.Helper()
		owner, err := d.Owner(t.Context(), stored)
		if err != nil || owner.Cover(sluice.MayUseSecrets).Name(secret) != want {
			t.Errorf("its owner may use %s: %t (%v)", secret, !want, err)
		}
	}
	owns(true, "partner.key")
	owns(false, "stripe.key")
	if now, err := d.Identify(t.Context(), sluice.Identity{Username: "anna@example.com", Roles: []string{}}); err != nil || now.May("event.listen") {
		t.Errorf("without the group she is %+v, %v", now, err)
	}
	must(t, d, "admin", "iam.role.put", `{"role": "partner-dev", "scope": ["partner.orders"]}`)
	owns(false, "partner.key")
	owns(true, "partner.orders.key")
	must(t, d, "admin", "iam.role.delete", `{"role": "partner-dev"}`)
	owns(false, "partner.orders.key")
}
