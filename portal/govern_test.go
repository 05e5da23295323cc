package portal_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestNothingIsStoredOfWhatIsWrong: a form with a mistake stores nothing, and keeps what
// was typed, except secrets.
func TestNothingIsStoredOfWhatIsWrong(t *testing.T) {
	t.Parallel()
	s := start(t)
	v := s.signedIn("admin", adminPassword)
	v.post("/users/new", "username", "eve", "password", "a", "roles", "", "roles", "viewer").
		wants(t, 400, `id="field-password-problem"`, "The password must have", `value="eve"`, `value="viewer" checked`).lacks(t, "Saved.")
	v.get("/users/eve").wants(t, 404)
	v.post("/clients/new", "clientId", "robot", "redirectUris", "http://example.org/").wants(t, 400, `id="field-redirectUris-problem"`, `value="robot"`)
	v.get("/clients/robot").wants(t, 404)
	v.post("/roles/new", "role", "r", "permissions", "webhook.get, no such!").wants(t, 400, `value="no such!" checked`)
	v.get("/roles/r").wants(t, 404)
	v.post("/secrets/new", "name", "a b", "value", "hush").wants(t, 400, `value="a b"`, "letters, digits, dots, _ and -").lacks(t, "hush")
	v.get("/secrets/nothing").wants(t, 404, "There is no secret")
	v.post("/users/new", "username", "a b").wants(t, 400, "The username must be").lacks(t, "The parameter")
}

// TestANameThatIsTakenChangesNothing: the form of a new thing edits no existing one.
func TestANameThatIsTakenChangesNothing(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.command("iam.client.put", map[string]any{"clientId": "robot", "roles": []string{"viewer"}})
	s.command("secret.put", map[string]any{"name": "crm", "value": "x"})
	v := s.signedIn("admin", adminPassword)
	for path, form := range map[string][]string{
		"/users/new":   {"username", "admin", "roles", "", "roles", "viewer"},
		"/roles/new":   {"role", "viewer", "permissions", "*"},
		"/clients/new": {"clientId", "robot", "roles", "", "roles", "admin"},
		"/secrets/new": {"name", "crm", "value", "y"},
	} {
		v.post(path, form...).wants(t, http.StatusConflict, form[1]+" already", "-problem")
	}
	v.get("/users/admin").wants(t, 200, `value="admin" checked`)
	v.get("/roles/viewer").wants(t, 200, "built in", "can be changed").lacks(t, "built in, changed")
	v.get("/roles/admin").wants(t, 200, "can’t be changed").lacks(t, "can be changed")
	v.get("/clients/robot").wants(t, 200, `value="viewer" checked`).lacks(t, `value="admin" checked`)
}

// TestClientsAndTheirSecrets: a client without chosen grants gets the default ones. A
// button makes a new secret, and changes nothing else.
func TestClientsAndTheirSecrets(t *testing.T) {
	t.Parallel()
	s := start(t)
	v := s.signedIn("admin", adminPassword)
	secret := regexp.MustCompile(`<pre class="wrap">([A-Z2-7]+)</pre>`)
	first := secret.FindString(v.post("/clients/new", "clientId", "robot", "roles", "", "roles", "viewer", "grants", "").wants(t, 200, "Saved.").body)
	v.get("/clients/robot").wants(t, 200, `value="client_credentials" checked`, "Make a new secret", "/audit?username=client%3Arobot").lacks(t, first)
	second := secret.FindString(v.post("/clients/robot", "renew", "true").wants(t, 200, "shown only this once", `value="viewer" checked`, `value="client_credentials" checked`).body)
	if first == "" || second == "" || first == second {
		t.Errorf("the secrets are %q and %q", first, second)
	}
	v.post("/clients/new", "clientId", "page", "public", "true", "grants", "").wants(t, http.StatusSeeOther)
	v.get("/clients/page").wants(t, 200, `value="authorization_code" checked`).lacks(t, "Make a new secret")
}

// TestSecretsOfSeveralLines: a key keeps its lines, but a single line loses its line end.
// The page shows when a secret was last used.
func TestSecretsOfSeveralLines(t *testing.T) {
	t.Parallel()
	s := start(t, "data="+t.TempDir())
	v := s.signedIn("admin", adminPassword)
	v.post("/secrets/new", "name", "one", "value", "hush\r\n").wants(t, http.StatusSeeOther)
	v.post("/secrets/new", "name", "several", "value", "a key\r\nof lines\r\n").wants(t, http.StatusSeeOther)
	s.store("lengths", "pipeline:\n  - set: {value: '#{len(secret(\"one\"))} #{len(secret(\"several\"))}'}\n")
	v.post("/pipelines/lengths/run").wants(t, 200, "4 15")
	s.stop() // uses are stored from time to time, and at the end
	s.resume()
	v = s.signedIn("admin", adminPassword)
	v.get("/secrets").wants(t, 200, `data-label="Last used"><time`)
	v.get("/secrets/one").wants(t, 200, "Last used", "<textarea").lacks(t, "hush")
}

// TestTheAuditLogIsNarrowedDown by outcome, and leads to what it is about.
func TestTheAuditLogIsNarrowedDown(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.command("webhook.put", map[string]any{"eventKey": "webhook.a"})
	s.command("iam.user.put", map[string]any{"username": "vera", "password": "a long password", "roles": []string{"viewer"}})
	s.signedIn("vera", "a long password").get("/secrets").wants(t, http.StatusForbidden)
	v := s.signedIn("admin", adminPassword)
	v.get("/audit").wants(t, 200, `<a href="/webhooks/webhook.a">`, `<a href="/users/vera">vera</a> viewer`, "entries", ">Address<").lacks(t, ">Clear<")
	v.get("/audit?outcome=refused").wants(t, 200, "secret.get", "1 entry", ">Clear<", `value="refused" selected`).lacks(t, "webhook.put</code>")
	v.get("/audit?outcome=refused&username=admin").wants(t, 200, "Nothing found", "Show all entries")
	v.get("/audit?outcome=odd").wants(t, 400, "outcome")
	v.post("/users/vera/delete").wants(t, http.StatusSeeOther)
	v.get("/audit?command=iam.user.delete").wants(t, 200, "vera").lacks(t, `<a href="/users/vera">`)
}

// TestDeletionsSayWhatStops: who has a role, whose pipelines lose their owner,
// and when something was used last.
func TestDeletionsSayWhatStops(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.command("iam.user.put", map[string]any{"username": "dev", "password": "a long password", "roles": []string{"developer"}})
	s.command("iam.role.put", map[string]any{"role": "own", "permissions": "webhook.get"})
	s.command("iam.client.put", map[string]any{"clientId": "robot", "roles": []string{"own"}})
	s.command("secret.put", map[string]any{"name": "crm", "value": "x"})
	s.signedIn("dev", "a long password").post("/pipelines/new", "name", "devs", "source", "pipeline: [log]").wants(t, http.StatusSeeOther)
	v := s.signedIn("admin", adminPassword)
	v.get("/users/dev/delete").wants(t, 200, `<a href="/pipelines/devs">`, "until someone else saves", "Last used: ", "Disable the user instead", "Keep the user")
	v.get("/users/admin/delete").wants(t, 200).lacks(t, "/pipelines/devs")
	v.get("/roles/own/delete").wants(t, 200, `<a href="/clients/robot">`).lacks(t, "Last used")
	v.get("/secrets/crm/delete").wants(t, 200, "Last used: never", "can’t be brought back").lacks(t, "use the secret, and fail if")
	v.post("/pipelines/new", "name", "sync", "source", "pipeline: [set: {value: \"#{len(secret('crm'))}\"}]", "do", "save").wants(t, http.StatusSeeOther)
	v.get("/secrets/crm/delete").wants(t, 200, "use the secret, and fail if", `/pipelines/sync">sync</a>`)
	v.post("/secrets/crm/delete").wants(t, http.StatusSeeOther)
	v.get("/users/nobody/delete").wants(t, 404)
}

// TestErrorsSayWhatToDo next, and lead on.
func TestErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.command("iam.user.put", map[string]any{"username": "vera", "password": "a long password", "roles": []string{"viewer"}})
	v := s.signedIn("vera", "a long password")
	v.get("/webhooks/webhook.none").wants(t, 404, "deleted or renamed", `<a class="button main" href="/webhooks">`)
	v.get("/audit").wants(t, 403, "An administrator can give you another role").lacks(t, `<a class="button main"`)
	v.get("/nowhere").wants(t, 404, "There is no such page", ">Overview</a>")
}

// TestWhatUsersMayDoIsInWords on their own page, and their passwords are asked
// for in the order in which people know them.
func TestWhatUsersMayDoIsInWords(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.command("iam.user.put", map[string]any{"username": "sue", "password": "a long password", "roles": []string{"support"}})
	s.command("iam.user.put", map[string]any{"username": "nobody", "password": "a long password"})
	s.command("iam.user.put", map[string]any{"username": "unseen", "password": "a long password"})
	page := s.signedIn("sue", "a long password").get("/me").wants(t, 200, "Manage dead letters, the quarantine and work. See webhooks, pipelines, calls and the figures of the server. Read what callers have sent and replay events.")
	if strings.Index(page.body, "Current password") > strings.Index(page.body, "New password") {
		t.Error("the new password is asked for before the current one")
	}
	s.signedIn("nobody", "a long password").get("/me").wants(t, 200, "<p>Nothing.</p>")
	v := s.signedIn("admin", adminPassword)
	v.get("/users/admin").wants(t, 200, "your page").lacks(t, `type="password"`)
	v.get("/users/sue").wants(t, 200, `type="password"`, "Read what callers have sent and replay events.")
	v.get("/users").wants(t, 200, "active", "never")
}

// TestASecretIsMaskedWhileItIsTyped, unless someone wants to see it.
func TestASecretIsMaskedWhileItIsTyped(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.browse()
	b.signIn("admin", adminPassword)
	b.open("/secrets/new")
	const masked = `getComputedStyle(document.querySelector("#field-value")).webkitTextSecurity`
	for _, want := range []string{"disc", "none", "disc"} {
		if got := eval[string](b, masked); got != want {
			t.Errorf("the value is shown with %q, want %q", got, want)
		}
		b.do(chromedp.Click(chromedp.CSS("[data-reveal=field-value]")))
	}
}

// TestBuiltInRoles: a built-in role can be deleted only after a change, and deleting it
// restores it.
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
	v.get("/roles").wants(t, 200, "built in", "your own", "Manage dead letters, the quarantine and work.", "See webhooks.")
}
