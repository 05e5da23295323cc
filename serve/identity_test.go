package serve_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// token asks the token endpoint of a service.
func (s *service) token(form url.Values, alterations ...func(*http.Request)) answer {
	s.t.Helper()
	alterations = append(alterations, header("Content-Type", "application/x-www-form-urlencoded"))
	return s.send("POST", "/auth/realms/default/protocol/openid-connect/token", strings.NewReader(form.Encode()), alterations...)
}

// login returns the tokens of the admin.
func (s *service) login() (access, refresh string) {
	s.t.Helper()
	tokens := s.token(url.Values{
		"grant_type": {"password"}, "client_id": {"sluice"}, "username": {"admin"}, "password": {adminPassword},
	}).wantStatus(s.t, 200).object(s.t)
	return tokens["access_token"].(string), tokens["refresh_token"].(string)
}

func (s *service) whoami(authorization string) answer {
	s.t.Helper()
	return s.send("GET", "/api/v3/command/iam.whoami", nil, header("authorization", authorization))
}

// TestTokensOfTheEmbeddedIssuer: what the token endpoint gives is what the
// header takes, as long as the user stays, also after a restart.
func TestTokensOfTheEmbeddedIssuer(t *testing.T) {
	t.Parallel()
	s := start(t, "public-url=http://sluice.example") // the port changes with a restart, the issuer must not
	access, refresh := s.login()
	for range 2 {
		for _, authorization := range []string{"Bearer " + access, "bearer " + access, "Refresh " + refresh} {
			if got := s.whoami(authorization).wantStatus(t, 200).object(t)["username"]; got != "admin" {
				t.Errorf("%s is %v", authorization[:8], got)
			}
		}
		s.stop()
		s.resume()
	}
	s.whoami("Bearer "+access+"x").wantProblem(t, 401, "invalid_token")
	s.whoami("Refresh "+access).wantProblem(t, 401, "invalid_token")
}

// TestLiveTokensFollowTheirUser: what changes for a user counts at once.
func TestLiveTokensFollowTheirUser(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.command("iam.user.put", map[string]any{"username": "ada", "password": "first password", "roles": []string{"developer"}}).wantStatus(t, 200)
	tokens := s.token(url.Values{
		"grant_type": {"password"}, "client_id": {"sluice"}, "username": {"ada"}, "password": {"first password"},
	}).wantStatus(t, 200).object(t)
	bearer := header("authorization", "Bearer "+tokens["access_token"].(string))
	list := func() answer { return s.send("GET", "/api/v3/command/webhook.get", nil, bearer) }
	hook := s.create("webhook.seen")
	if got := list().wantStatus(t, 200); !strings.Contains(string(got.body), hook.UUID) {
		t.Errorf("a developer doesn't see the token: %s", got.body)
	}
	s.command("iam.user.put", map[string]any{"username": "ada", "roles": "viewer"}).wantStatus(t, 200)
	if got := list().wantStatus(t, 200); strings.Contains(string(got.body), hook.UUID) || !strings.Contains(string(got.body), hook.last6()) {
		t.Errorf("a viewer sees %s", got.body)
	}
	s.send("POST", "/api/v3/command/webhook.delete?uuid="+hook.UUID, nil, bearer).wantProblem(t, 403, "forbidden")
	s.command("iam.user.put", map[string]any{"username": "ada", "roles": []string{}}).wantStatus(t, 200)
	list().wantProblem(t, 403, "forbidden")
	s.command("iam.user.put", map[string]any{"username": "ada", "password": "second password"}).wantStatus(t, 200)
	list().wantProblem(t, 401, "invalid_token") // the login was the old password's
	s.whoami("Refresh "+tokens["refresh_token"].(string)).wantProblem(t, 401, "invalid_token")
}

// TestClientCredentials: a program has a secret and roles of its own.
func TestClientCredentials(t *testing.T) {
	t.Parallel()
	s := start(t)
	client := s.command("iam.client.put", map[string]any{"clientId": "ci", "roles": "viewer"}).wantStatus(t, 200).object(t)
	secret := client["secret"].(string)
	grant := url.Values{"grant_type": {"client_credentials"}}
	tokens := s.token(grant, func(r *http.Request) { r.SetBasicAuth("ci", secret) }).wantStatus(t, 200).object(t)
	me := s.whoami("Bearer "+tokens["access_token"].(string)).wantStatus(t, 200).object(t)
	if me["username"] != "client:ci" || me["roles"].([]any)[0] != "viewer" {
		t.Errorf("the client is %v", me)
	}
	grant.Set("client_id", "ci")
	grant.Set("client_secret", secret)
	s.token(grant).wantStatus(t, 200)
	s.command("iam.client.delete", map[string]any{"clientId": "ci"}).wantStatus(t, 200)
	s.token(grant).wantStatus(t, 401)
	s.whoami("Bearer "+tokens["access_token"].(string)).wantProblem(t, 401, "invalid_token")
}

// TestTheEndOfALoginIsAudited: a stolen refresh token ends the login wherever it
// is used again, and the audit log tells.
func TestTheEndOfALoginIsAudited(t *testing.T) {
	t.Parallel()
	s := start(t)
	logout := func(refresh string) answer {
		return s.send("POST", "/auth/realms/default/protocol/openid-connect/logout",
			strings.NewReader(url.Values{"client_id": {"sluice"}, "refresh_token": {refresh}}.Encode()), header("Content-Type", "application/x-www-form-urlencoded"))
	}
	_, refresh := s.login()
	logout(refresh).wantStatus(t, 204)
	_, old := s.login()
	renewed := s.token(url.Values{"grant_type": {"refresh_token"}, "client_id": {"sluice"}, "refresh_token": {old}}).wantStatus(t, 200).object(t)
	s.whoami("Refresh "+old).wantProblem(t, 401, "invalid_token")
	s.whoami("Refresh "+renewed["refresh_token"].(string)).wantProblem(t, 401, "invalid_token")
	s.whoami("Bearer "+renewed["access_token"].(string)).wantProblem(t, 401, "invalid_token")

	var got []string
	for _, command := range []string{"logout", "login"} {
		page := s.command("audit.get", map[string]any{"command": command}).wantStatus(t, 200).object(t)
		for _, item := range page["items"].([]any) {
			e := item.(map[string]any)
			got = append(got, fmt.Sprint(e["username"], " ", e["command"], " ", e["target"], " ", e["outcome"], " ", e["code"], " ", e["address"]))
		}
	}
	want := []string{
		"admin logout sluice refused token-reused 127.0.0.1",
		"admin logout sluice allowed <nil> 127.0.0.1",
		" login bearer refused invalid_token 127.0.0.1",
		" login refresh refused invalid_token 127.0.0.1",
		" login refresh refused invalid_token 127.0.0.1",
		"admin login sluice allowed <nil> 127.0.0.1",
		"admin login sluice allowed <nil> 127.0.0.1",
		"admin login sluice allowed <nil> 127.0.0.1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestRolesWarnOfPermissionsThatAllowNothing: the commands that there are count.
func TestRolesWarnOfPermissionsThatAllowNothing(t *testing.T) {
	t.Parallel()
	s := start(t)
	role := s.command("iam.role.put", map[string]any{"role": "ops", "permissions": "webhook.get,server.*,webhook.gett"}).wantStatus(t, 200).object(t)
	if warnings, _ := role["warnings"].([]any); len(warnings) != 1 || !strings.Contains(warnings[0].(string), "webhook.gett") {
		t.Errorf("the warnings are %v", role["warnings"])
	}
}

// TestAnExternalProvider: one service trusts the issuer of another one.
func TestAnExternalProvider(t *testing.T) {
	t.Parallel()
	provider := start(t)
	client := provider.command("iam.client.put", map[string]any{"clientId": "relay", "grants": "password,refresh_token"}).wantStatus(t, 200).object(t)
	provider.command("iam.user.put", map[string]any{"username": "ada", "password": "correct horse", "roles": "developer"}).wantStatus(t, 200)
	s := start(t,
		"auth-issuer="+provider.server.URL()+"/auth/realms/default", "auth-client-id=relay", "auth-client-secret="+client["secret"].(string),
		"auth-roles-claim=roles", "auth-audience=sluice", "auth-cli-client=cli")
	told := s.send("GET", "/api/v3/command/server.info", nil).wantStatus(t, 200).object(t)
	if len(told) != 2 || told["issuer"] != provider.server.URL()+"/auth/realms/default" || told["cliClient"] != "cli" {
		t.Errorf("strangers are told %v", told)
	}
	s.send("GET", "/api/v3/command/server.info", nil, header("authorization", "Bearer x")).wantProblem(t, 401, "invalid_token")

	tokens := provider.token(url.Values{
		"grant_type": {"password"}, "client_id": {"relay"}, "client_secret": {client["secret"].(string)}, "username": {"ada"}, "password": {"correct horse"},
	}).wantStatus(t, 200).object(t)
	basic := func(r *http.Request) { r.SetBasicAuth("ada", "correct horse") }
	for name, authorize := range map[string]func(*http.Request){
		"Basic":   basic,
		"Bearer":  header("authorization", "Bearer "+tokens["access_token"].(string)),
		"Refresh": header("authorization", "Refresh "+tokens["refresh_token"].(string)),
	} {
		got := s.send("GET", "/api/v3/command/iam.whoami", nil, authorize).wantStatus(t, 200)
		if me := got.object(t); me["username"] != "ada" || me["roles"].([]any)[0] != "developer" {
			t.Errorf("%s: the user is %v", name, me)
		}
		if renewed := got.header.Get("svc-refresh-token"); (renewed != "") != (name == "Refresh") {
			t.Errorf("%s: the renewed token is %q", name, renewed)
		}
	}
	s.send("GET", "/api/v3/command/iam.whoami", nil, func(r *http.Request) { r.SetBasicAuth("ada", "wrong") }).wantProblem(t, 401, "authorization-invalid")
	s.send("POST", "/auth/realms/default/protocol/openid-connect/token", nil).wantProblem(t, 404, "not-found")

	provider.command("iam.user.put", map[string]any{"username": "root", "password": "correct horse", "roles": "admin"}).wantStatus(t, 200)
	asRoot := func(name string, params map[string]any) answer {
		return s.command(name, params, func(r *http.Request) { r.SetBasicAuth("root", "correct horse") })
	}
	for name, params := range map[string]map[string]any{
		"iam.user.put":      {"username": "eve", "password": "correct horse", "roles": "admin"},
		"iam.user.get":      {},
		"iam.user.delete":   {"username": "ada"},
		"iam.client.put":    {"clientId": "ci"},
		"iam.client.get":    {},
		"iam.client.delete": {"clientId": "relay"},
		"iam.password.set":  {"password": "another one", "current": "correct horse"},
	} {
		asRoot(name, params).wantProblem(t, 409, "external-users")
	}
	asRoot("iam.role.put", map[string]any{"role": "developer", "permissions": "iam.whoami"}).wantStatus(t, 200)
	for _, name := range []string{"iam.role.get", "iam.whoami", "audit.get"} {
		asRoot(name, nil).wantStatus(t, 200)
	}
	s.send("GET", "/api/v3/command/webhook.get", nil, basic).wantProblem(t, 403, "forbidden") // the role counts at once

	// A refusal that is remembered counts as well: it is no way around the throttle.
	guess := func(password string) answer {
		return s.send("GET", "/api/v3/command/iam.whoami", nil, func(r *http.Request) { r.SetBasicAuth("root", password) })
	}
	for range 5 {
		guess("guess").wantProblem(t, 401, "authorization-invalid")
	}
	guess("correct horse").wantProblem(t, 429, "too-many-logins")

	provider.stop()
	s.send("GET", "/api/v3/command/iam.whoami", nil, basic).wantStatus(t, 200) // from the cache
	got := s.send("GET", "/api/v3/command/iam.whoami", nil, func(r *http.Request) { r.SetBasicAuth("bob", "who knows") })
	if got.status != 503 || got.header.Get("Retry-After") == "" {
		t.Errorf("without its provider the service answers %d: %s", got.status, got.body)
	}
}
