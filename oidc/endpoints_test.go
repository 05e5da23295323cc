package oidc

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice"
)

func bearer(token string) http.Header {
	return http.Header{"Authorization": {"Bearer " + token}}
}

func TestUserinfo(t *testing.T) {
	f := newFixture(t)
	r := f.login("openid profile")
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		info := f.do(method, protocol+"/userinfo", bearer(r.str("access_token")), nil)
		want := map[string]any{"sub": userName, "preferred_username": userName, "roles": []any{"developer", "viewer"}}
		if diff := cmp.Diff(want, info.body); info.status != http.StatusOK || diff != "" {
			t.Errorf("%d %s", info.status, diff)
		}
	}
	if info := f.do(http.MethodGet, protocol+"/userinfo", bearer(f.login("openid").str("access_token")), nil); info.body["preferred_username"] != nil {
		t.Errorf("without the scope profile it says %s", info.text)
	}
}

func TestUserinfoRefuses(t *testing.T) {
	f := newFixture(t)
	r := f.login("openid")
	token := r.str("access_token")
	const invalid = `Bearer realm="default", error="invalid_token"`
	for name, test := range map[string]struct {
		path      string
		header    http.Header
		status    int
		challenge string
	}{
		"no header":             {"/userinfo", nil, 401, `Bearer realm="default"`},
		"garbage":               {"/userinfo", bearer("x.y.z"), 401, invalid},
		"ID token":              {"/userinfo", bearer(r.str("id_token")), 401, invalid},
		"refresh token":         {"/userinfo", bearer(r.str("refresh_token")), 401, invalid},
		"other scheme":          {"/userinfo", http.Header{"Authorization": {"Basic " + token}}, 401, invalid},
		"two headers":           {"/userinfo", http.Header{"Authorization": {"Bearer " + token, "Bearer " + token}}, 400, ""},
		"token in the query":    {"/userinfo?access_token=" + token, bearer(token), 400, ""},
		"no scope openid":       {"/userinfo", bearer(f.login("profile").str("access_token")), 403, `Bearer realm="default", error="insufficient_scope"`},
		"query instead of auth": {"/userinfo?access_token=" + token, nil, 400, ""},
	} {
		info := f.do(http.MethodGet, protocol+test.path, test.header, nil)
		if info.status != test.status || info.header.Get("WWW-Authenticate") != test.challenge {
			t.Errorf("%s: %d %s %s", name, info.status, info.header.Get("WWW-Authenticate"), info.text)
		}
	}
	f.directory.remove()
	if info := f.do(http.MethodGet, protocol+"/userinfo", bearer(token), nil); info.status != 401 || info.header.Get("WWW-Authenticate") != invalid {
		t.Errorf("user is gone: %d %s", info.status, info.text)
	}
}

func TestIntrospection(t *testing.T) {
	f := newFixture(t)
	r := f.login("openid")
	robot := f.post("token", "grant_type", "client_credentials", "client_id", secretID, "client_secret", robotSecret)
	ask := func(token string) map[string]any {
		t.Helper()
		found := f.postWith(http.Header{"Authorization": {clientHeader(secretID, robotSecret)}}, "introspect", "token", token, "token_type_hint", "whatever")
		if found.status != http.StatusOK {
			t.Fatalf("%d %s", found.status, found.text)
		}
		return found.body
	}
	access := ask(r.str("access_token"))
	for name, want := range map[string]any{"active": true, "token_type": "Bearer", "username": userName, "sub": userName, "client_id": publicID, "scope": "openid", "iss": f.URL(), "aud": "sluice"} {
		if access[name] != want {
			t.Errorf("access token: %s is %v, want %v", name, access[name], want)
		}
	}
	if refresh := ask(r.str("refresh_token")); refresh["active"] != true || refresh["username"] != userName || refresh["token_type"] != "refresh_token" {
		t.Errorf("refresh token: %v", refresh)
	}
	if own := ask(robot.str("access_token")); own["active"] != true || own["username"] != nil || own["sub"] != secretID {
		t.Errorf("token of a client: %v", own)
	}
	inactive := map[string]any{"active": false}
	for _, token := range []string{"garbage", r.str("id_token"), r.str("access_token") + "x"} {
		if diff := cmp.Diff(inactive, ask(token)); diff != "" {
			t.Error(diff)
		}
	}
	renewed := f.renew(r.str("refresh_token"))
	if diff := cmp.Diff(inactive, ask(r.str("refresh_token"))); diff != "" {
		t.Error(diff)
	}
	if ask(renewed.str("refresh_token"))["active"] != true {
		t.Error("asking about an old token has ended the session")
	}
	f.directory.remove()
	if diff := cmp.Diff(inactive, ask(r.str("access_token"))); diff != "" {
		t.Error(diff)
	}
}

func TestIntrospectionFollowsTheClient(t *testing.T) {
	f := newFixture(t)
	active := func(token string) any {
		return f.postWith(http.Header{"Authorization": {clientHeader(secretID, robotSecret)}}, "introspect", "token", token).body["active"]
	}
	for name, change := range map[string]func(){
		"deleted":           func() { delete(f.directory.clients, "other") },
		"with a new secret": func() { f.directory.clients["other"].TokensSince = time.Now().Add(time.Minute) },
	} {
		other := *f.directory.clients[secretID]
		other.ID = "other"
		f.directory.clients["other"] = &other
		token := f.post("token", "grant_type", "client_credentials", "client_id", "other", "client_secret", robotSecret).str("access_token")
		if active(token) != true {
			t.Fatal("the token is dead from the start")
		}
		change()
		if active(token) != false {
			t.Errorf("%s: the token of the client is alive", name)
		}
	}
}

func TestIntrospectionNeedsASecret(t *testing.T) {
	f := newFixture(t)
	token := f.login("").str("access_token")
	for _, form := range [][]string{
		{"token", token},
		{"token", token, "client_id", publicID},
		{"token", token, "client_id", secretID, "client_secret", "guess"},
	} {
		if r := f.post("introspect", form...); r.status != 401 || r.str("error") != "invalid_client" {
			t.Errorf("%v: %d %s", form[2:], r.status, r.text)
		}
	}
	if r := f.post("introspect", "client_id", secretID, "client_secret", robotSecret); r.status != 400 || r.str("error") != "invalid_request" {
		t.Errorf("%d %s", r.status, r.text)
	}
}

func TestRevocationEndsTheSession(t *testing.T) {
	f := newFixture(t)
	for _, kind := range []string{"access_token", "refresh_token"} {
		r := f.login("")
		if !f.accepts(r.str("access_token")) {
			t.Fatal("the token is refused from the start")
		}
		for range 2 { // the second time the token is unknown
			if revoked := f.post("revoke", "client_id", publicID, "token", r.str(kind)); revoked.status != http.StatusOK {
				t.Errorf("%d %s", revoked.status, revoked.text)
			}
		}
		if f.accepts(r.str("access_token")) || f.acceptsRefresh(r.str("refresh_token")) {
			t.Errorf("after revoking the %s a token is accepted", kind)
		}
	}
}

func TestRevocationRefuses(t *testing.T) {
	f := newFixture(t)
	r := f.login("")
	robot := f.post("token", "grant_type", "client_credentials", "client_id", secretID, "client_secret", robotSecret)
	for name, test := range map[string]struct {
		form   []string
		status int
		code   string
	}{
		"no client":          {[]string{"token", r.str("access_token")}, 401, "invalid_client"},
		"no token":           {[]string{"client_id", publicID}, 400, "invalid_request"},
		"garbage":            {[]string{"client_id", publicID, "token", "garbage"}, 200, ""},
		"another client's":   {[]string{"client_id", secretID, "client_secret", robotSecret, "token", r.str("access_token")}, 400, "invalid_grant"},
		"token of a client":  {[]string{"client_id", secretID, "client_secret", robotSecret, "token", robot.str("access_token")}, 400, "unsupported_token_type"},
		"another's, refresh": {[]string{"client_id", secretID, "client_secret", robotSecret, "token", r.str("refresh_token")}, 400, "invalid_grant"},
	} {
		if got := f.post("revoke", test.form...); got.status != test.status || got.str("error") != test.code {
			t.Errorf("%s: %d %s", name, got.status, got.text)
		}
	}
	if !f.accepts(r.str("access_token")) {
		t.Error("a refused revocation has ended the session")
	}
}

func TestLogout(t *testing.T) {
	f := newFixture(t)
	r := f.login("")
	for range 2 {
		if out := f.post("logout", "client_id", publicID, "refresh_token", r.str("refresh_token")); out.status != http.StatusNoContent || out.text != "" {
			t.Errorf("%d %s", out.status, out.text)
		}
	}
	if f.accepts(r.str("access_token")) || f.acceptsRefresh(r.str("refresh_token")) {
		t.Error("a token outlives the logout")
	}
	if out := f.post("logout", "client_id", publicID); out.status != 400 || out.str("error") != "invalid_request" {
		t.Errorf("%d %s", out.status, out.text)
	}
	if want := []sluice.Logout{{Username: userName, ClientID: publicID, Address: "127.0.0.1"}}; !cmp.Equal(want, f.endings) {
		t.Errorf("told of %+v", f.endings)
	}
}

func TestLogoutByAnIDToken(t *testing.T) {
	f := newFixture(t)
	other := f.login("openid")
	query := func(r reply, more ...string) string {
		return "?" + form(append([]string{"id_token_hint", r.str("id_token"), "post_logout_redirect_uri", "https://evil.example/", "state", "x"}, more...)...)
	}
	for name, logout := range map[string]func(reply) reply{
		"GET": func(r reply) reply { return f.do(http.MethodGet, protocol+"/logout"+query(r), nil, nil) },
		"GET, client id": func(r reply) reply {
			return f.do(http.MethodGet, protocol+"/logout"+query(r, "client_id", publicID), nil, nil)
		},
		"POST": func(r reply) reply { return f.post("logout", "id_token_hint", r.str("id_token")) },
		"POST, expired": func(r reply) reply {
			f.wait(2 * f.AccessTTL)
			return f.post("logout", "id_token_hint", r.str("id_token"))
		},
	} {
		r := f.login("openid")
		for range 2 {
			if out := logout(r); out.status != http.StatusNoContent || out.header.Get("Location") != "" {
				t.Errorf("%s: %d %s", name, out.status, out.text)
			}
		}
		if f.acceptsRefresh(r.str("refresh_token")) {
			t.Errorf("%s: the login goes on", name)
		}
	}
	for name, out := range map[string]reply{
		"another client":           f.do(http.MethodGet, protocol+"/logout"+query(other, "client_id", secretID), nil, nil),
		"an access token":          f.post("logout", "id_token_hint", other.str("access_token")),
		"a broken one":             f.post("logout", "id_token_hint", other.str("id_token")+"x"),
		"an endless one":           f.post("logout", "id_token_hint", strings.Repeat("x", 2*maxToken)),
		"a refresh token by URL":   f.do(http.MethodGet, protocol+"/logout?"+form("client_id", publicID, "refresh_token", other.str("refresh_token")), nil, nil),
		"nothing":                  f.do(http.MethodGet, protocol+"/logout", nil, nil),
		"parameters given doubled": f.do(http.MethodGet, protocol+"/logout"+query(other)+"&state=y", nil, nil),
	} {
		if out.status != 400 || out.str("error") != "invalid_request" {
			t.Errorf("%s: %d %s", name, out.status, out.text)
		}
	}
	if !f.acceptsRefresh(other.str("refresh_token")) {
		t.Error("another login has ended")
	}
}

func TestDiscovery(t *testing.T) {
	f := newFixture(t)
	r := f.do(http.MethodGet, "/.well-known/openid-configuration", nil, nil)
	want := map[string]any{
		"issuer":                                        f.URL(),
		"authorization_endpoint":                        f.BaseURL + "/authorize",
		"token_endpoint":                                f.URL() + "/protocol/openid-connect/token",
		"jwks_uri":                                      f.URL() + "/protocol/openid-connect/certs",
		"userinfo_endpoint":                             f.URL() + "/protocol/openid-connect/userinfo",
		"introspection_endpoint":                        f.URL() + "/protocol/openid-connect/introspect",
		"revocation_endpoint":                           f.URL() + "/protocol/openid-connect/revoke",
		"end_session_endpoint":                          f.URL() + "/protocol/openid-connect/logout",
		"grant_types_supported":                         []any{"authorization_code", "client_credentials", "password", "refresh_token"},
		"response_types_supported":                      []any{"code"},
		"response_modes_supported":                      []any{"query"},
		"code_challenge_methods_supported":              []any{"S256"},
		"prompt_values_supported":                       []any{"none", "login", "consent"},
		"request_uri_parameter_supported":               false,
		"scopes_supported":                              []any{"openid", "profile"},
		"subject_types_supported":                       []any{"public"},
		"id_token_signing_alg_values_supported":         []any{"ES256"},
		"token_endpoint_auth_methods_supported":         []any{"client_secret_basic", "client_secret_post", "none"},
		"revocation_endpoint_auth_methods_supported":    []any{"client_secret_basic", "client_secret_post", "none"},
		"introspection_endpoint_auth_methods_supported": []any{"client_secret_basic", "client_secret_post"},
		"claims_supported":                              []any{"iss", "sub", "aud", "exp", "iat", "auth_time", "azp", "sid", "nonce", "at_hash", "preferred_username", "roles"},

		"authorization_response_iss_parameter_supported": true,
	}
	if diff := cmp.Diff(want, r.body); r.status != http.StatusOK || diff != "" {
		t.Errorf("%d %s", r.status, diff)
	}
	// RFC 8414 puts the path of the issuer behind the well-known one.
	const metadata = "/.well-known/oauth-authorization-server"
	for path, status := range map[string]int{
		metadata:                     200,
		"/../../.." + metadata:       200,
		"/../../.." + metadata + "/": 200,
		"/../../.." + metadata + "/auth/realms/default": 200,
		"/../../.." + metadata + "/auth/realms/other":   404,
		"/../../.." + metadata + "/auth":                404,
	} {
		got := f.do(http.MethodGet, path, nil, nil)
		if got.status != status || status == 200 && got.text != r.text {
			t.Errorf("%s answered %d %s", path, got.status, got.text)
		}
	}
}
