package oidc

import (
	"encoding/base64"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice"
	"sluice/limit"
)

func TestPasswordGrantAnswersTokens(t *testing.T) {
	f := newFixture(t)
	r := f.login("openid profile unheard-of")
	for name, want := range map[string]any{"token_type": "Bearer", "expires_in": 300.0, "refresh_expires_in": 720 * 3600.0, "scope": "openid profile"} {
		if r.body[name] != want {
			t.Errorf("%s is %v, want %v", name, r.body[name], want)
		}
	}
	if r.header.Get("Cache-Control") != "no-store" || r.header.Get("Pragma") != "no-cache" || r.header.Get("Content-Type") != "application/json" {
		t.Errorf("headers are %v", r.header)
	}
	id, err := f.Access(t.Context(), r.str("access_token"))
	if err != nil {
		t.Fatal(err)
	}
	want := sluice.Identity{Username: userName, ClientID: publicID, Scope: "openid profile", Issued: id.Issued, Expires: id.Issued.Add(5 * time.Minute)}
	if diff := cmp.Diff(want, id); diff != "" || time.Since(id.Issued).Abs() > time.Minute {
		t.Errorf("identity expires at %v: %s", id.Expires, diff)
	}
	id, renewed, err := f.Refresh(t.Context(), r.str("refresh_token"))
	if err != nil || renewed != "" || id.Username != userName || id.ClientID != publicID || id.Roles != nil {
		t.Errorf("refresh token gives %+v, %q, %v", id, renewed, err)
	}
	for _, scope := range []string{"", "unheard-of"} {
		if r := f.login(scope); r.body["id_token"] != nil || r.body["scope"] != nil {
			t.Errorf("without a scope the answer is %s", r.text)
		}
	}
}

func TestAccessTokenSaysWhatItShould(t *testing.T) {
	f := newFixture(t)
	access := decodePart(t, f.login("openid").str("access_token"), 1)
	for name, want := range map[string]any{
		"iss": f.URL(), "aud": "sluice", "sub": userName, "client_id": publicID, "azp": publicID,
		"preferred_username": userName, "scope": "openid", "typ": "Bearer",
	} {
		if access[name] != want {
			t.Errorf("claim %s is %v, want %v", name, access[name], want)
		}
	}
	if diff := cmp.Diff([]any{"developer", "viewer"}, access["roles"]); diff != "" {
		t.Error(diff)
	}
	for _, name := range []string{"exp", "iat", "nbf", "jti", "sid"} {
		if access[name] == nil {
			t.Errorf("claim %s is missing", name)
		}
	}
	if access["iss"] != f.server.URL+"/auth/realms/default" {
		t.Errorf("issuer is %v", access["iss"])
	}
	header := decodePart(t, f.login("").str("access_token"), 0)
	if header["alg"] != "ES256" || header["typ"] != "at+jwt" || header["kid"] == nil || len(header) != 3 {
		t.Errorf("header is %v", header)
	}
}

func TestClientCredentialsGrantIsForTheClient(t *testing.T) {
	f := newFixture(t)
	r := f.post("token", "grant_type", "client_credentials", "client_id", secretID, "client_secret", robotSecret, "scope", "openid profile")
	if r.status != http.StatusOK || r.body["refresh_token"] != nil || r.body["refresh_expires_in"] != nil || r.body["id_token"] != nil || r.body["scope"] != "profile" {
		t.Fatalf("%d %s", r.status, r.text)
	}
	id, err := f.Access(t.Context(), r.str("access_token"))
	if err != nil || !id.Client || id.Username != secretID || id.ClientID != secretID {
		t.Errorf("identity is %+v, %v", id, err)
	}
}

func TestClientWithoutRefreshGrantGetsNoRefreshToken(t *testing.T) {
	f := newFixture(t)
	r := f.post("token", "grant_type", "password", "client_id", "once", "username", userName, "password", userPassword)
	if r.status != http.StatusOK || r.body["refresh_token"] != nil || !f.accepts(r.str("access_token")) {
		t.Errorf("%d %s", r.status, r.text)
	}
}

func TestTokenEndpointRefuses(t *testing.T) {
	f := newFixture(t)
	throttled := sluice.CodeTooManyLogins.Errorf("Too many \"wrong\" ones.")
	throttled.RetryAfter = 1500 * time.Millisecond
	busy := sluice.CodeLoginBusy.Errorf("Busy.")
	busy.RetryAfter = 2 * time.Second
	login := form("grant_type", "password", "client_id", publicID, "username", userName, "password", userPassword)
	tests := []struct {
		name    string
		body    string
		failure error
		header  http.Header
		status  int
		code    string
		retry   string // any of these seconds
	}{
		{name: "wrong password", body: strings.Replace(login, "correct", "wrong", 1), status: 400, code: "invalid_grant"},
		{name: "unknown user", body: strings.Replace(login, userName, "nobody", 1), status: 400, code: "invalid_grant"},
		{name: "endless password", body: login + strings.Repeat("x", limit.MaxPassword), status: 400, code: "invalid_grant"},
		{name: "endless username", body: strings.Replace(login, userName, strings.Repeat("x", limit.MaxUsername+1), 1), failure: http.ErrBodyNotAllowed, status: 400, code: "invalid_grant"},
		{name: "throttled", body: login, failure: throttled, status: 429, code: "slow_down", retry: "2"},
		{name: "too many hashes", body: login, failure: busy, status: 503, code: "temporarily_unavailable", retry: "345"},
		{name: "fault of ours", body: login, failure: http.ErrBodyNotAllowed, status: 500, code: "server_error"},
		{name: "no password", body: form("grant_type", "password", "client_id", publicID, "username", userName), status: 400, code: "invalid_request"},
		{name: "empty password", body: form("grant_type", "password", "client_id", publicID, "username", userName, "password", ""), status: 400, code: "invalid_request"},
		{name: "no grant type", body: form("client_id", publicID), status: 400, code: "invalid_request"},
		{name: "unknown grant type", body: form("client_id", publicID, "grant_type", "implicit"), status: 400, code: "unsupported_grant_type"},
		{name: "grant the client may not use", body: form("client_id", "once", "grant_type", "refresh_token", "refresh_token", "x"), status: 400, code: "unauthorized_client"},
		{name: "public client for itself", body: form("client_id", publicID, "grant_type", "client_credentials"), status: 400, code: "unauthorized_client"},
		{name: "no refresh token", body: form("client_id", publicID, "grant_type", "refresh_token"), status: 400, code: "invalid_request"},
		{name: "garbage refresh token", body: form("client_id", publicID, "grant_type", "refresh_token", "refresh_token", "x.y"), status: 400, code: "invalid_grant"},
		{name: "double parameter", body: login + "&username=" + userName, status: 400, code: "invalid_request"},
		{name: "bad encoding", body: login + "&x=%zz", status: 400, code: "invalid_request"},
		{name: "semicolon", body: login + ";x=y", status: 400, code: "invalid_request"},
		{name: "control character", body: login + "%00", status: 400, code: "invalid_request"},
		{name: "not UTF-8", body: login + "%ff", status: 400, code: "invalid_request"},
		{name: "bad scope", body: login + "&scope=" + url.QueryEscape(`open"id`), status: 400, code: "invalid_scope"},
		{name: "too large", body: login + "&x=" + strings.Repeat("x", maxForm), status: 413, code: "invalid_request"},
		{name: "JSON", body: `{"grant_type":"password"}`, header: http.Header{"Content-Type": {"application/json"}}, status: 400, code: "invalid_request"},
		{name: "no content type", body: login, header: http.Header{"Content-Type": nil}, status: 400, code: "invalid_request"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f.directory.failure = test.failure
			header := http.Header{"Content-Type": {"application/x-www-form-urlencoded; charset=UTF-8"}}
			maps.Copy(header, test.header)
			r := f.do(http.MethodPost, protocol+"/token", header, strings.NewReader(test.body))
			wait := r.header.Get("Retry-After")
			if r.status != test.status || r.str("error") != test.code || (wait == "") != (test.retry == "") || !strings.Contains(test.retry, wait) {
				t.Errorf("answer is %d %s %v", r.status, r.text, r.header)
			}
			if r.header.Get("Cache-Control") != "no-store" || r.str("error_description") == "" || strings.ContainsAny(r.str("error_description"), "\"\\") {
				t.Errorf("answer is %s %v", r.text, r.header)
			}
		})
	}
}

func TestParametersInTheURLAreRefused(t *testing.T) {
	f := newFixture(t)
	login := form("grant_type", "password", "client_id", publicID, "username", userName, "password", userPassword)
	r := f.do(http.MethodPost, protocol+"/token?"+login, http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, nil)
	if r.status != 400 || r.str("error") != "invalid_request" {
		t.Errorf("%d %s", r.status, r.text)
	}
}

func TestWrongPathsAndMethods(t *testing.T) {
	f := newFixture(t)
	for _, test := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{http.MethodGet, protocol + "/token", 405, "POST"},
		{http.MethodPut, protocol + "/userinfo", 405, "GET, POST"},
		{http.MethodPost, protocol + "/certs", 405, "GET, HEAD"},
		{http.MethodPost, "/.well-known/openid-configuration", 405, "GET, HEAD"},
		{http.MethodGet, protocol + "/revoke", 405, "POST"},
		{http.MethodGet, protocol + "/introspect", 405, "POST"},
		{http.MethodPut, protocol + "/logout", 405, "GET, POST"},
		{http.MethodGet, protocol + "/auth", 404, ""},
		{http.MethodPost, "/../other" + protocol + "/token", 404, ""},
		{http.MethodGet, "/../Default/.well-known/openid-configuration", 404, ""},
	} {
		r := f.do(test.method, test.path, nil, nil)
		if r.status != test.status || r.header.Get("Allow") != test.allow || r.str("error") == "" {
			t.Errorf("%s %s answers %d, Allow %q, %s", test.method, test.path, r.status, r.header.Get("Allow"), r.text)
		}
	}
}

func TestLoginsAreObserved(t *testing.T) {
	f := newFixture(t)
	refresh := f.login("").str("refresh_token")
	f.post("token", "grant_type", "password", "client_id", publicID, "username", "mallory", "password", "guess")
	f.renew(refresh)
	f.renew(refresh)
	basic := http.Header{"Authorization": {clientHeader(secretID, robotSecret)}}
	f.postWith(basic, "token", "grant_type", "client_credentials")
	f.post("token", "grant_type", "password", "client_id", "nobody")
	f.post("token", "grant_type", "magic", "client_id", publicID)
	var got []sluice.Login
	for _, l := range f.logins {
		if !strings.HasPrefix(l.Address, "127.0.0.1:") {
			t.Errorf("address is %q", l.Address)
		}
		l.Address = ""
		got = append(got, l)
	}
	want := []sluice.Login{
		{Grant: "password", ClientID: publicID, Username: userName, Outcome: sluice.Granted},
		{Grant: "password", ClientID: publicID, Username: "mallory", Outcome: "invalid_grant"},
		{Grant: "refresh_token", ClientID: publicID, Username: userName, Outcome: sluice.Granted},
		{Grant: "refresh_token", ClientID: publicID, Username: userName, Outcome: "invalid_grant"},
		{Grant: "client_credentials", ClientID: secretID, Outcome: sluice.Granted},
		{Grant: "password", ClientID: "nobody", Outcome: "invalid_client"},
		{ClientID: publicID, Outcome: "unsupported_grant_type"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// clientHeader is the header with which a client authenticates.
func clientHeader(id, secret string) string {
	pair := url.QueryEscape(id) + ":" + url.QueryEscape(secret)
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(pair))
}
