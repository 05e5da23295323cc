package portal_test

import "testing"

// TestBuiltInRoles: a role that came with the service can only be deleted once it
// was changed, which brings back what it had.
func TestBuiltInRoles(t *testing.T) {
	t.Parallel()
	s := start(t)
	v := s.signedIn("admin", adminPassword)
	const button = "/roles/viewer/delete"
	for _, role := range []string{"admin", "developer", "viewer", "anonymous"} {
		v.get("/roles/"+role).wants(t, 200, "built in").lacks(t, "/delete", "changed<")
	}
	v.post("/roles/viewer", "permissions", "not one!").wants(t, 400).lacks(t, button)
	v.post("/roles/viewer", "permissions", "webhook.get").wants(t, 303)
	v.get("/roles/viewer").wants(t, 200, button, "built in, changed")
	v.post(button).wants(t, 303)
	v.get("/roles/viewer").wants(t, 200, "built in").lacks(t, button, "built in, changed")
	v.post("/roles/new", "role", "own", "permissions", "webhook.get").wants(t, 303)
	v.get("/roles/own").wants(t, 200, "/roles/own/delete", "your own").lacks(t, "built in")
	v.get("/roles").wants(t, 200, "built in", "your own", "Manage dead letters and the quarantine.", "See webhooks.")
}
