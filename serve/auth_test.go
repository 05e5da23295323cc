package serve_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"sluice"
)

// TestAuthentication: who may run a command, and what others are told.
func TestAuthentication(t *testing.T) {
	t.Parallel()
	s := start(t)
	tests := []struct {
		name          string
		authorization []string
		status        int
		code          string
	}{
		{"the admin", []string{basic("admin", adminPassword)}, 200, ""},
		{"the scheme in capitals", []string{strings.Replace(basic("admin", adminPassword), "Basic", "BASIC", 1)}, 200, ""},
		{"no header", nil, 401, "authorization-missing"},
		{"a wrong password", []string{basic("admin", "wrong")}, 401, "authorization-invalid"},
		{"an empty password", []string{basic("admin", "")}, 401, "authorization-invalid"},
		{"an unknown user", []string{basic("nobody", adminPassword)}, 401, "authorization-invalid"},
		{"a user in capitals", []string{basic("Admin", adminPassword)}, 401, "authorization-invalid"},
		{"no base64", []string{"Basic !!!"}, 401, "authorization-invalid"},
		{"no colon", []string{"Basic YWRtaW4="}, 401, "authorization-invalid"},
		{"no UTF-8", []string{basic("admin", "\xff")}, 401, "authorization-invalid"},
		{"control characters", []string{basic("admin", adminPassword+"\x00")}, 401, "authorization-invalid"},
		{"a very long password", []string{basic("admin", strings.Repeat("x", 2000))}, 401, "authorization-invalid"},
		{"nothing behind the scheme", []string{"Basic"}, 401, "authorization-invalid"},
		{"an empty header", []string{""}, 401, "authorization-invalid"},
		{"another scheme", []string{"Digest x"}, 401, "authorization-invalid"},
		{"a token nobody issued", []string{"Bearer x"}, 401, "invalid_token"},
		{"a refresh token nobody issued", []string{"Refresh x"}, 401, "invalid_token"},
		{"a very long token", []string{"Bearer " + strings.Repeat("x", 9000)}, 401, "authorization-invalid"},
		{"two headers", []string{basic("admin", adminPassword), basic("admin", adminPassword)}, 400, "authorization-ambiguous"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := s.send("GET", "/api/v3/command/webhook.get", nil, func(r *http.Request) { r.Header["Authorization"] = test.authorization })
			if test.code == "" {
				got.wantStatus(t, test.status)
				return
			}
			got.wantProblem(t, test.status, test.code)
			challenges := strings.Join(got.header.Values("WWW-Authenticate"), "\n")
			for _, want := range []string{`Basic realm="default", charset="UTF-8"`, `Bearer realm="default"`, `Refresh realm="default"`} {
				if test.status == 401 && !strings.Contains(challenges, want) {
					t.Errorf("WWW-Authenticate is %q, want also %q", challenges, want)
				}
			}
		})
	}
}

// TestSameAnswerForUnknownUsers: nobody learns from the answer who has an account.
func TestSameAnswerForUnknownUsers(t *testing.T) {
	t.Parallel()
	s := start(t)
	get := func(username string) answer {
		return s.send("GET", "/api/v3/command/webhook.get", nil, header("Authorization", basic(username, "wrong")))
	}
	if known, unknown := get("admin"), get("nobody"); string(known.body) != string(unknown.body) {
		t.Errorf("answers differ: %s and %s", known.body, unknown.body)
	}
}

// TestOpenEndpoints: without credentials there are these endpoints and no others.
func TestOpenEndpoints(t *testing.T) {
	t.Parallel()
	s := start(t)
	tests := []struct {
		method, path string
		status       int
		code         string
	}{
		{"GET", "/healthz", 200, ""},
		{"GET", "/readyz", 200, ""},
		{"GET", "/openapi.json", 200, ""},
		{"GET", resultPath, 400, "parameter-missing"},
		{"GET", receivePath, 401, "token-missing"},
		{"POST", receivePath, 401, "token-missing"},

		{"GET", "/api/v3/command/webhook.get", 401, "authorization-missing"},
		{"POST", "/api/v3/command/webhook.get", 401, "authorization-missing"},
		{"POST", "/api/v3/command/webhook.put", 401, "authorization-missing"},
		{"GET", "/api/v3/command/webhook.put", 401, "authorization-missing"},
		{"POST", "/api/v3/command/webhook.delete", 401, "authorization-missing"},
		{"POST", "/api/v3/command/webhook.nothing", 401, "authorization-missing"},
		{"POST", "/api/v3/command/webhook%2Eput", 401, "authorization-missing"},

		{"GET", "/api/v3", 404, "not-found"},
		{"GET", "/api/v3/", 404, "not-found"},
		{"GET", "/api/v3/command/", 404, "not-found"},
		{"GET", "/api/v3/command/webhook.get/", 404, "not-found"},
		{"GET", "/api/v2/command/webhook.get", 404, "not-found"},
		{"GET", "/API/V3/command/webhook.get", 404, "not-found"},
		{"GET", "//api/v3/command/webhook.get", 404, "not-found"},
		{"GET", "/api/v3/command/../command/webhook.get", 404, "not-found"},
		{"GET", "/debug/pprof/", 404, "not-found"},
		{"GET", "//evil.example.org/%2e%2e", 404, "not-found"},
	}
	for _, test := range tests {
		t.Run(test.method+" "+test.path, func(t *testing.T) {
			w := s.dial(t)
			w.say(request(test.method+" "+test.path+" HTTP/1.1", "Host: sluice"))
			got := w.hear(test.method).wantStatus(t, test.status)
			if test.code != "" {
				got.wantProblem(t, test.status, test.code)
			}
			for name, want := range map[string]string{
				"Cache-Control":           "no-store",
				"Referrer-Policy":         "no-referrer",
				"X-Content-Type-Options":  "nosniff",
				"Content-Security-Policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
				"Location":                "",
			} {
				if value := got.header.Get(name); value != want {
					t.Errorf("the header %s is %q, want %q", name, value, want)
				}
			}
		})
	}
}

// TestHealth: the open endpoints take GET and HEAD and nothing else.
func TestHealth(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, path := range []string{"/healthz", "/readyz", "/openapi.json"} {
		s.send("HEAD", path, nil).wantStatus(t, 200)
		for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS"} {
			got := s.send(method, path, nil)
			got.wantProblem(t, http.StatusMethodNotAllowed, "method-not-allowed")
			if allow := got.header.Get("Allow"); allow != "GET, HEAD" {
				t.Errorf("Allow is %q", allow)
			}
		}
	}
	if status := s.send("GET", "/healthz", nil).object(t)["status"]; status != "ok" {
		t.Errorf("status is %v", status)
	}
	if status := s.send("GET", "/readyz", nil).object(t)["status"]; status != "ready" {
		t.Errorf("status is %v", status)
	}
}

// TestSignInsDontFloodTheAuditLog: whoever can sign in can do so again and again, and
// must not drive out what others have changed.
func TestSignInsDontFloodTheAuditLog(t *testing.T) {
	t.Parallel()
	s := start(t)
	const signIns = 60
	form := header("Content-Type", "application/x-www-form-urlencoded")
	for range signIns {
		s.send("POST", "/signin", strings.NewReader("username=admin&password="+url.QueryEscape(adminPassword)), form).wantStatus(t, http.StatusSeeOther)
	}
	var log struct {
		Items []sluice.AuditEntry `json:"items"`
	}
	s.command("audit.get", map[string]any{"command": "login", "limit": 2 * signIns}).wantStatus(t, 200).into(t, &log)
	if got := len(log.Items); got == 0 || got > signIns/2 {
		t.Errorf("%d sign-ins make %d entries", signIns, got)
	}
}
