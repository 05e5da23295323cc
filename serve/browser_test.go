package serve_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// TestOtherSitesCallNothing: what a page of another site makes a browser send, with
// the password that the browser has remembered, does nothing.
func TestOtherSitesCallNothing(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook := s.create("webhook.open")
	s.store("there", "pipeline: [set: {value: 1}]")
	s.store("hears", listening("webhook.open", "set: {value: 1}"))
	form := header("Content-Type", "application/x-www-form-urlencoded")
	const makesAdmin = "username=csrfadmin&password=made by another site&roles=admin"
	for _, headers := range map[string][]func(*http.Request){
		"another site":          {header("Sec-Fetch-Site", "cross-site"), header("Origin", "https://evil.example")},
		"a site of our domain":  {header("Sec-Fetch-Site", "same-site"), header("Origin", "https://evil.example.org")},
		"an older browser":      {header("Origin", "https://evil.example")},
		"a page without origin": {header("Origin", "null")},
	} {
		alterations := append([]func(*http.Request){asAdmin, form}, headers...)
		for method, path := range map[string]string{
			"POST": "/api/v3/command/iam.user.put", "PUT": "/api/v3/pipeline/there", "DELETE": "/api/v3/pipeline/there",
		} {
			s.send(method, path, strings.NewReader(makesAdmin), alterations...).wantProblem(t, 403, "cross-origin")
		}
		s.send("POST", "/api/v3/pipeline", strings.NewReader("pipeline: [set: {value: 1}]"), alterations...).wantProblem(t, 403, "cross-origin")
		// Here the request itself has the secret.
		s.call(hook, "text/plain", "hi", headers...).wantStatus(t, 200)
		s.send("POST", "/auth/realms/default/protocol/openid-connect/token",
			strings.NewReader("grant_type=password&client_id=sluice&username=admin&password="+strings.ReplaceAll(adminPassword, " ", "+")), append(headers, form)...).wantStatus(t, 200)
	}
	s.send("GET", "/api/v3/command/iam.user.get?username=csrfadmin", nil, asAdmin).wantProblem(t, 404, "user-not-found")
	s.command("server.info", nil, header("Sec-Fetch-Site", "same-origin"), header("Origin", s.base())).wantStatus(t, 200)
	s.command("server.info", nil, header("Origin", s.base())).wantStatus(t, 200)
}

// TestBrowsersAreNotAskedForPasswords: what they are asked for they remember, and
// send along with what other sites make them send.
func TestBrowsersAreNotAskedForPasswords(t *testing.T) {
	t.Parallel()
	s := start(t)
	asksForBasic := func(method, path string, alterations ...func(*http.Request)) bool {
		got := s.send(method, path, strings.NewReader("grant_type=client_credentials&client_id=x&client_secret=y"), append(alterations, header("Content-Type", "application/x-www-form-urlencoded"))...).wantStatus(t, 401)
		return slices.ContainsFunc(got.header.Values("WWW-Authenticate"), func(c string) bool { return strings.HasPrefix(c, "Basic") })
	}
	for _, path := range []string{"/api/v3/command/iam.whoami", "/api/v3/pipeline", "/auth/realms/default/protocol/openid-connect/token"} {
		for name, browser := range map[string]func(*http.Request){
			"one that tells":     header("Sec-Fetch-Mode", "navigate"),
			"one that does not":  header("Accept", "text/html,application/xhtml+xml,*/*;q=0.8"),
			"a script of a page": header("Sec-Fetch-Mode", "cors"),
		} {
			if asksForBasic("POST", path, browser) {
				t.Errorf("%s: %s is asked for a password", path, name)
			}
		}
	}
	if !asksForBasic("POST", "/api/v3/command/iam.whoami") {
		t.Error("a program is not told of Basic")
	}
}

// TestPagesOfOtherOrigins: those that the operator names may call the API, and
// what describes it is for all.
func TestPagesOfOtherOrigins(t *testing.T) {
	t.Parallel()
	s := start(t, "cors-origins=https://app.example.org,http://localhost:3000")
	hook := s.create("webhook.page")
	app, other := header("Origin", "https://app.example.org"), header("Origin", "https://evil.example")
	wants := header("Access-Control-Request-Method", "POST")
	preflight := func(path string, alterations ...func(*http.Request)) answer {
		return s.send("OPTIONS", path, nil, append(alterations, wants, header("Access-Control-Request-Headers", "authorization,content-type"))...)
	}
	for _, path := range []string{"/api/v3/command/iam.whoami", "/api/v3/pipeline/x", receivePath, "/api/v3/events", "/auth/realms/default/protocol/openid-connect/token"} {
		got := preflight(path, app).wantStatus(t, http.StatusNoContent)
		for name, want := range map[string]string{
			"Access-Control-Allow-Origin": "https://app.example.org", "Access-Control-Allow-Headers": "authorization,content-type",
			"Access-Control-Allow-Credentials": "", "Vary": "Origin",
		} {
			if value := got.header.Get(name); value != want {
				t.Errorf("%s: %s is %q, want %q", path, name, value, want)
			}
		}
		if got := preflight(path, other); got.status == http.StatusNoContent || got.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: another site is answered %d %v", path, got.status, got.header)
		}
	}
	cross := header("Sec-Fetch-Site", "cross-site")
	got := s.command("server.info", nil, app, cross).wantStatus(t, 200)
	if got.header.Get("Access-Control-Allow-Origin") != "https://app.example.org" || !strings.Contains(got.header.Get("Access-Control-Expose-Headers"), "Svc-Result-Correlationid") {
		t.Errorf("the answer has %v", got.header)
	}
	if got := s.call(hook, "text/plain", "hi", app, cross).wantStatus(t, 200); got.header.Get("Access-Control-Allow-Origin") == "" {
		t.Error("the answer of a webhook is not for the page")
	}
	s.command("server.info", nil, other, cross).wantProblem(t, 403, "cross-origin")
	for _, path := range []string{"/openapi.json", "/auth/realms/default/.well-known/openid-configuration", "/auth/realms/default/protocol/openid-connect/certs"} {
		if got := s.send("GET", path, nil, other).wantStatus(t, 200); got.header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s is not for all: %v", path, got.header)
		}
		preflight(path, other).wantStatus(t, http.StatusNoContent)
	}
	// The portal's pages are for no other origin.
	if got := s.send("POST", "/signin", strings.NewReader("username=admin"), app, cross, header("Content-Type", "application/x-www-form-urlencoded")); got.status != 403 || got.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("the sign-in answers %d %v", got.status, got.header)
	}
}

// TestNoOtherOriginsByDefault: without the setting there are none.
func TestNoOtherOriginsByDefault(t *testing.T) {
	t.Parallel()
	s := start(t)
	got := s.send("OPTIONS", "/api/v3/command/iam.whoami", nil, header("Origin", "https://app.example.org"), header("Access-Control-Request-Method", "POST"))
	if got.status == http.StatusNoContent || got.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("a preflight is answered %d %v", got.status, got.header)
	}
	if got.header.Get("Strict-Transport-Security") != "" {
		t.Error("plain HTTP says that it is HTTPS")
	}
}

// TestStrictTransport: browsers that came by HTTPS come back so, and so behind a
// proxy that has the certificate.
func TestStrictTransport(t *testing.T) {
	t.Parallel()
	secure, _ := startTLS(t)
	for _, s := range []*service{secure, start(t, "public-url=https://hooks.example.org")} {
		for _, path := range []string{"/signin", "/api/v3/command/iam.whoami"} {
			if got := s.send("GET", path, nil).header.Get("Strict-Transport-Security"); !strings.HasPrefix(got, "max-age=") {
				t.Errorf("%s has Strict-Transport-Security %q", path, got)
			}
		}
	}
}
