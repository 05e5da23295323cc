package iam

import (
	"context"
	"encoding/base64"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sluice"
)

// tokens knows two tokens by heart; real ones are package oidc's subject.
type tokens struct{}

func (tokens) Access(_ context.Context, token string) (sluice.Identity, error) {
	if token != "good" {
		return sluice.Identity{}, sluice.Errorf(sluice.Unauthenticated, "invalid_token", "The token is not valid.")
	}
	return sluice.Identity{Username: "admin", Expires: time.Now().Add(time.Minute)}, nil
}

func (t tokens) Refresh(ctx context.Context, token string) (sluice.Identity, string, error) {
	id, err := t.Access(ctx, token)
	return id, "next", err
}

func basic(credentials string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(credentials))
}

func TestTheAuthorizationHeader(t *testing.T) {
	d := newDirectory(t)
	must(t, d, "admin", "iam.user.put", `{"username":"ada","password":"with:colon ü","roles":["viewer"]}`)
	a := &Authenticator{Directory: d, Tokens: tokens{}, Realm: "default", Login: d.Login}
	tests := map[string]struct {
		headers []string
		user    string // or
		kind    sluice.Kind
		code    string
	}{
		"Basic":                       {headers: []string{basic("admin:admin-password")}, user: "admin"},
		"a scheme in lower case":      {headers: []string{"b" + basic("admin:admin-password")[1:]}, user: "admin"},
		"a colon in the password":     {headers: []string{basic("ada:with:colon ü")}, user: "ada"},
		"Bearer":                      {headers: []string{"Bearer good"}, user: "admin"},
		"BEARER":                      {headers: []string{"BEARER good"}, user: "admin"},
		"Refresh":                     {headers: []string{"Refresh good"}, user: "admin"},
		"none":                        {kind: sluice.Unauthenticated, code: "authorization-missing"},
		"two":                         {headers: []string{"Bearer good", "Bearer good"}, kind: sluice.Invalid, code: "authorization-ambiguous"},
		"an unknown scheme":           {headers: []string{"Digest x"}, kind: sluice.Unauthenticated, code: "authorization-invalid"},
		"empty":                       {headers: []string{""}, kind: sluice.Unauthenticated, code: "authorization-invalid"},
		"a wrong password":            {headers: []string{basic("admin:wrong")}, kind: sluice.Unauthenticated, code: "authorization-invalid"},
		"an unknown user":             {headers: []string{basic("nobody:wrong")}, kind: sluice.Unauthenticated, code: "authorization-invalid"},
		"no colon":                    {headers: []string{basic("admin")}, kind: sluice.Unauthenticated, code: "authorization-invalid"},
		"no user":                     {headers: []string{basic(":admin-password")}, kind: sluice.Unauthenticated, code: "authorization-invalid"},
		"a control character":         {headers: []string{basic("admin:admin-password\n")}, kind: sluice.Unauthenticated, code: "authorization-invalid"},
		"bytes that are not UTF-8":    {headers: []string{basic("admin:\xff")}, kind: sluice.Unauthenticated, code: "authorization-invalid"},
		"base64 that is none":         {headers: []string{"Basic !!!!"}, kind: sluice.Unauthenticated, code: "authorization-invalid"},
		"a password of 2 kB":          {headers: []string{basic("admin:" + strings.Repeat("x", 2000))}, kind: sluice.Unauthenticated, code: "authorization-invalid"},
		"a bad token":                 {headers: []string{"Bearer bad"}, kind: sluice.Unauthenticated, code: "invalid_token"},
		"a token of 9 kB of dots":     {headers: []string{"Bearer " + strings.Repeat(".", 9000)}, kind: sluice.Unauthenticated, code: "authorization-invalid"},
		"a scheme and nothing behind": {headers: []string{"Bearer"}, kind: sluice.Unauthenticated, code: "invalid_token"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "/", nil)
			for _, h := range test.headers {
				r.Header.Add("authorization", h)
			}
			r.RemoteAddr = name // each from an address of its own
			w := httptest.NewRecorder()
			user, err := a.Authenticate(w, r)
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
			if challenges := sluice.AsError(err).Challenge; (len(challenges) == 3) != (test.kind == sluice.Unauthenticated) {
				t.Errorf("the challenges are %q", challenges)
			}
		})
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
