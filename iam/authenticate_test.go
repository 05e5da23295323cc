package iam

import (
	"context"
	"encoding/base64"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice"
)

// tokens knows a few tokens by heart; real ones are package oidc's subject.
type tokens struct{}

func (tokens) Access(_ context.Context, token string) (sluice.Identity, error) {
	switch token {
	case "orphan":
		return sluice.Identity{Username: "gone", ClientID: "gone", Client: true}, nil
	case "unsure":
		return sluice.Identity{}, sluice.CodeProviderUnavailable.Errorf("The provider can't be asked.")
	}
	if token != "good" {
		return sluice.Identity{}, sluice.CodeInvalidToken.Errorf("The token is not valid.")
	}
	return sluice.Identity{Username: "admin", Expires: time.Now().Add(time.Minute)}, nil
}

func (t tokens) Refresh(ctx context.Context, token string) (sluice.Identity, string, error) {
	id, err := t.Access(ctx, token)
	return id, "next", err
}

// authenticator returns one that knows the made-up tokens.
func authenticator(d *Directory, login func(context.Context, string, string, string) (sluice.User, error), observe func(scheme, outcome string)) *Authenticator {
	return &Authenticator{Directory: d, Tokens: tokens{}, Realm: "default", Login: login, Observe: observe}
}

func unobserved(string, string) {}

func basic(credentials string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(credentials))
}

func TestTheAuthorizationHeader(t *testing.T) {
	d := newDirectory(t)
	must(t, d, "admin", "iam.user.put", `{"username":"ada","password":"with:colon ü","roles":["viewer"]}`)
	var observed []string
	a := authenticator(d, d.Login, func(scheme, outcome string) {
		observed = append(observed, scheme+" "+outcome)
	})
	tests := map[string]struct {
		headers []string
		user    string // or
		kind    sluice.Kind
		code    string
		scheme  string // that is observed; default: basic
	}{
		"Basic":                       {headers: []string{basic("admin:admin-password")}, user: "admin"},
		"a scheme in lower case":      {headers: []string{"b" + basic("admin:admin-password")[1:]}, user: "admin"},
		"a colon in the password":     {headers: []string{basic("ada:with:colon ü")}, user: "ada"},
		"Bearer":                      {headers: []string{"Bearer good"}, user: "admin", scheme: "bearer"},
		"BEARER":                      {headers: []string{"BEARER good"}, user: "admin", scheme: "bearer"},
		"Refresh":                     {headers: []string{"Refresh good"}, user: "admin", scheme: "refresh"},
		"none":                        {kind: sluice.Unauthenticated, code: "authorization-missing", scheme: "none"},
		"two":                         {headers: []string{"Bearer good", "Bearer good"}, kind: sluice.Invalid, code: "authorization-ambiguous", scheme: "other"},
		"an unknown scheme":           {headers: []string{"Digest x"}, kind: sluice.Unauthenticated, code: "authorization-invalid", scheme: "other"},
		"empty":                       {headers: []string{""}, kind: sluice.Unauthenticated, code: "authorization-invalid", scheme: "other"},
		"a wrong password":            {headers: []string{basic("admin:wrong")}, kind: sluice.Unauthenticated, code: "authorization-invalid"},
		"an unknown user":             {headers: []string{basic("nobody:wrong")}, kind: sluice.Unauthenticated, code: "authorization-invalid"},
		"no colon":                    {headers: []string{basic("admin")}, kind: sluice.Unauthenticated, code: "authorization-invalid"},
		"no user":                     {headers: []string{basic(":admin-password")}, kind: sluice.Unauthenticated, code: "authorization-invalid"},
		"a control character":         {headers: []string{basic("admin:admin-password\n")}, kind: sluice.Unauthenticated, code: "authorization-invalid"},
		"bytes that are not UTF-8":    {headers: []string{basic("admin:\xff")}, kind: sluice.Unauthenticated, code: "authorization-invalid"},
		"base64 that is none":         {headers: []string{"Basic !!!!"}, kind: sluice.Unauthenticated, code: "authorization-invalid"},
		"a password of 2 kB":          {headers: []string{basic("admin:" + strings.Repeat("x", 2000))}, kind: sluice.Unauthenticated, code: "authorization-invalid"},
		"a bad token":                 {headers: []string{"Bearer bad"}, kind: sluice.Unauthenticated, code: "invalid_token", scheme: "bearer"},
		"a bad refresh token":         {headers: []string{"Refresh bad"}, kind: sluice.Unauthenticated, code: "invalid_token", scheme: "refresh"},
		"a token of a deleted client": {headers: []string{"Bearer orphan"}, kind: sluice.Unauthenticated, code: "invalid_token", scheme: "bearer"},
		"a token of 9 kB of dots":     {headers: []string{"Bearer " + strings.Repeat(".", 9000)}, kind: sluice.Unauthenticated, code: "authorization-invalid", scheme: "bearer"},
		"9 kB of a password":          {headers: []string{"Basic " + strings.Repeat("YTph", 3000)}, kind: sluice.Unauthenticated, code: "authorization-invalid"},
		"a scheme and nothing behind": {headers: []string{"Bearer"}, kind: sluice.Unauthenticated, code: "invalid_token", scheme: "bearer"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "/", nil)
			for _, h := range test.headers {
				r.Header.Add("authorization", h)
			}
			r.RemoteAddr = name // each from an address of its own
			w := httptest.NewRecorder()
			observed = nil
			user, err := a.Authenticate(w, r)
			if test.scheme == "" {
				test.scheme = "basic"
			}
			outcome := map[bool]string{true: " ok", false: " invalid"}[test.user != ""]
			if !slices.Equal(observed, []string{test.scheme + outcome}) {
				t.Errorf("observed %q", observed)
			}
			if test.user != "" {
				if err != nil || user.Name != test.user {
					t.Fatalf("got %s, %v", user.Name, err)
				}
				if renewed := w.Header().Get("svc-refresh-token"); (renewed == "next") != (name == "Refresh") {
					t.Errorf("the renewed token is %q", renewed)
				}
				return
			}
			wantCode(t, err, test.kind, test.code)
			wantChallenges(t, sluice.AsError(err), test.scheme)
		})
	}
}

// wantChallenges checks that each scheme is offered, and the cause given with the one that was
// used.
func wantChallenges(t *testing.T, e *sluice.Error, used string) {
	t.Helper()
	if e.Kind != sluice.Unauthenticated {
		if e.Challenge != nil {
			t.Errorf("the challenges are %q", e.Challenge)
		}
		return
	}
	want := []string{`Basic realm="default", charset="UTF-8"`, `Bearer realm="default"`, `Refresh realm="default"`}
	switch used {
	case "bearer":
		want[1] += `, error="invalid_token"`
	case "refresh":
		want[2] += `, error="invalid_token"`
	}
	if !slices.Equal(want, e.Challenge) {
		t.Errorf("the challenges are %q, want %q", e.Challenge, want)
	}
}

func TestATokenOfAUserWhoIsGoneIsRefused(t *testing.T) {
	d := newDirectory(t)
	must(t, d, "admin", "iam.user.put", `{"username":"ada","roles":["viewer"]}`)
	id := sluice.Identity{Username: "ada"}
	if _, err := d.Identify(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	must(t, d, "admin", "iam.user.put", `{"username":"ada","disabled":true}`)
	_, err := d.Identify(t.Context(), id)
	wantCode(t, err, sluice.Unauthenticated, "user-gone")
	must(t, d, "admin", "iam.user.delete", `{"username":"ada"}`)
	_, err = d.Identify(t.Context(), id)
	wantCode(t, err, sluice.Unauthenticated, "user-gone")
	_, err = d.Identify(t.Context(), sluice.Identity{Username: "ci", ClientID: "ci", Client: true})
	wantCode(t, err, sluice.Unauthenticated, "invalid_token")
}

func TestAnExternalProvidersRolesCount(t *testing.T) {
	d := newDirectory(t)
	user, err := d.Identify(t.Context(), sluice.Identity{Username: "from-elsewhere", Roles: []string{"developer", "unknown"}})
	if err != nil || !user.May("webhook.put") || user.May("iam.user.put") {
		t.Errorf("got %v, %v", user, err)
	}
}

// TestAGroupIsNoListOfRoles: a provider's group whose name reads as the roles of somebody else has
// nothing of what those may do.
func TestAGroupIsNoListOfRoles(t *testing.T) {
	d := newDirectory(t)
	d.External = true
	may := func(want bool, roles ...string) {
		t.Helper()
		user, err := d.Identify(t.Context(), sluice.Identity{Username: "mallory", Roles: roles})
		if err != nil || user.May("iam.role.put") != want {
			t.Errorf("with %q they may: %t (%v)", roles, !want, err)
		}
	}
	may(true, "viewer", "admin")
	for _, group := range []string{"viewer admin", "6 viewer5 admin", "viewer\x00admin", "viewer,admin"} {
		may(false, group)
	}
}

func TestEveryOutcomeIsObserved(t *testing.T) {
	d := newDirectory(t)
	var observed []string
	a := authenticator(d, d.Login, func(scheme, outcome string) {
		observed = append(observed, scheme+" "+outcome)
	})
	for range freeGuesses {
		d.pairs.Fail(pairOf("admin", "192.0.2.9"))
	}
	for _, header := range []string{basic("admin:admin-password"), "Bearer unsure", "Refresh bad", "Bearer good"} {
		_, _, _ = a.Authorize(t.Context(), header, "192.0.2.9")
	}
	if want := []string{"basic throttled", "bearer unavailable", "refresh invalid", "bearer ok"}; !slices.Equal(observed, want) {
		t.Errorf("observed %q, want %q", observed, want)
	}
}

func TestRefusedTokensAreInTheAuditLog(t *testing.T) {
	d := newDirectory(t)
	a := authenticator(d, d.Login, unobserved)
	for _, header := range []string{"Bearer bad", "Refresh bad", "Bearer orphan", "Basic !!!!", "Bearer unsure", "Bearer good"} {
		_, _, _ = a.Authorize(t.Context(), header, "198.51.100.7")
	}
	wantAudit(t, d, sluice.AuditQuery{Limit: 100},
		" login basic refused authorization-invalid 198.51.100.7",
		"client:gone login bearer refused invalid_token 198.51.100.7",
		" login refresh refused invalid_token 198.51.100.7",
		" login bearer refused invalid_token 198.51.100.7",
	)
	for range 100 {
		_, _, _ = a.Authorize(t.Context(), "Bearer canary", "198.51.100.8")
	}
	entries, _, err := d.Audit.Entries(t.Context(), sluice.AuditQuery{Limit: 1000})
	if err != nil || len(entries) > 40 {
		t.Errorf("100 bad tokens made %d entries (%v)", len(entries)-4, err)
	}
	for _, e := range entries {
		if strings.Contains(e.Target+e.Username+e.Code, "canary") {
			t.Errorf("a token is in the audit log: %+v", e)
		}
	}
}

// fixedUser lets one password in.
func fixedUser(_ context.Context, username, password, _ string) (sluice.User, error) {
	if username != "admin" || password != "pw" {
		return sluice.User{}, sluice.WrongCredentials()
	}
	return sluice.User{Name: username}, nil
}

func FuzzAuthorization(f *testing.F) {
	for _, seed := range []string{"Basic YWRtaW46cHc=", "bearer good", "Refresh  good ", "Bearer", "", " ", "Basic YWRtaW46cHc", "Negotiate x", "Bearer\tgood", "ＢＡＳＩＣ x"} {
		f.Add(seed)
	}
	a := authenticator(newDirectory(f), fixedUser, unobserved)
	f.Fuzz(func(t *testing.T, header string) {
		user, renewed, err := a.Authorize(t.Context(), header, "192.0.2.1")
		if err == nil {
			_, credentials, _ := strings.Cut(header, " ")
			credentials = strings.TrimSpace(credentials)
			password, _ := base64.StdEncoding.DecodeString(credentials)
			if user.Name != "admin" || credentials != "good" && string(password) != "admin:pw" {
				t.Errorf("%q is %s", header, user.Name)
			}
			return
		}
		if kind := sluice.AsError(err).Kind; user.Name != "" || renewed != "" || kind != sluice.Unauthenticated && kind != sluice.Unavailable {
			t.Errorf("%q gives %s, %q, %v", header, user.Name, renewed, err)
		}
	})
}

func FuzzBasic(f *testing.F) {
	for _, seed := range []string{"YWRtaW46cHc=", "", ":", "!!!!", "OnB3", "YWRtaW4=", "YTpiOmM=", "/w=="} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, credentials string) {
		username, password, ok := parseBasic(credentials)
		if !ok {
			return
		}
		if username == "" || strings.ContainsAny(username, ":\x00\n") || strings.ContainsAny(password, "\x00\n") {
			t.Errorf("%q gives user %q", credentials, username)
		}
		again, err := base64.StdEncoding.DecodeString(credentials)
		if err != nil || string(again) != username+":"+password {
			t.Errorf("%q gives %q and %q", credentials, username, password)
		}
	})
}
