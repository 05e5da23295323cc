package oidc

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"sluice"
)

func askFor(clientID, redirect string, changes ...string) string {
	values := url.Values{
		"client_id": {clientID}, "redirect_uri": {redirect}, "response_type": {"code"}, "state": {"the state"},
		"code_challenge": {oauth2.S256ChallengeFromVerifier("x")}, "code_challenge_method": {"S256"},
	}
	for n := 0; n < len(changes); n += 2 {
		values.Set(changes[n], changes[n+1])
	}
	return values.Encode()
}

// TestAuthorizationIsRefused: the program is told what is wrong, and gets its
// state back.
func TestAuthorizationIsRefused(t *testing.T) {
	f := newFixture(t)
	f.directory.clients["codeless"] = &sluice.Client{ID: "codeless", Grants: []string{"password"}}
	for name, test := range map[string]struct {
		query string
		code  string
	}{
		"no response type":      {askFor(publicID, loopback, "response_type", ""), "invalid_request"},
		"implicit":              {askFor(publicID, loopback, "response_type", "token"), "unsupported_response_type"},
		"hybrid":                {askFor(publicID, loopback, "response_type", "code id_token"), "unsupported_response_type"},
		"fragment":              {askFor(publicID, loopback, "response_mode", "fragment"), "invalid_request"},
		"no challenge":          {askFor(publicID, loopback, "code_challenge", ""), "invalid_request"},
		"no challenge, secret":  {askFor(webID, webRedirect, "code_challenge", ""), "invalid_request"},
		"plain":                 {askFor(publicID, loopback, "code_challenge_method", "plain"), "invalid_request"},
		"plain by default":      {askFor(publicID, loopback, "code_challenge_method", ""), "invalid_request"},
		"lower case":            {askFor(publicID, loopback, "code_challenge_method", "s256"), "invalid_request"},
		"short challenge":       {askFor(publicID, loopback, "code_challenge", "abc"), "invalid_request"},
		"padded challenge":      {askFor(publicID, loopback, "code_challenge", oauth2.S256ChallengeFromVerifier("x")+"="), "invalid_request"},
		"client without grant":  {askFor("codeless", loopback), "unauthorized_client"},
		"scope":                 {askFor(publicID, loopback, "scope", `open"id`), "invalid_scope"},
		"request object":        {askFor(publicID, loopback, "request", "x.y.z"), "request_not_supported"},
		"request by reference":  {askFor(publicID, loopback, "request_uri", "https://x"), "request_uri_not_supported"},
		"age":                   {askFor(publicID, loopback, "max_age", "-1"), "invalid_request"},
		"silent and not silent": {askFor(publicID, loopback, "prompt", "none login"), "invalid_request"},
		"long nonce":            {askFor(publicID, loopback, "nonce", strings.Repeat("n", maxNonce+1)), "invalid_request"},
	} {
		asked, err := f.Asked(t.Context(), test.query)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		target, err := url.Parse(asked.Refused)
		if err != nil || !strings.HasPrefix(asked.Refused, asked.Redirect) {
			t.Errorf("%s: leads to %s, %v", name, asked.Refused, err)
			continue
		}
		got := target.Query()
		if got.Get("error") != test.code || got.Get("error_description") == "" || got.Get("state") != "the state" || got.Get("iss") != f.URL() {
			t.Errorf("%s: the program is told %v", name, got)
		}
	}
}

// TestNobodyIsSentToStrangers: without a client and a place that belongs to it
// the browser goes nowhere, and the person is told.
func TestNobodyIsSentToStrangers(t *testing.T) {
	f := newFixture(t)
	for name, query := range map[string]string{
		"no client":            askFor("", loopback),
		"unknown client":       askFor("unknown", loopback),
		"no place":             askFor(publicID, ""),
		"another site":         askFor(publicID, "https://evil.example.org/cb"),
		"of another client":    askFor(publicID, webRedirect),
		"unregistered machine": askFor(secretID, loopback),
		"given twice":          askFor(publicID, loopback) + "&redirect_uri=https://evil.example.org",
		"not form-encoded":     "client_id=%zz",
	} {
		asked, err := f.Asked(t.Context(), query)
		if err == nil || sluice.AsError(err).Kind != sluice.Invalid || asked.Refused != "" {
			t.Errorf("%s: %+v, %v", name, asked, err)
		}
	}
}

// TestWhatIsAsked: what a request may say beside what it must.
func TestWhatIsAsked(t *testing.T) {
	f := newFixture(t)
	for query, want := range map[string]sluice.Authorization{
		askFor(publicID, loopback):                                                 {MaxAge: -1},
		askFor(publicID, loopback, "scope", "openid email", "nonce", "n"):          {MaxAge: -1, Scope: "openid", Nonce: "n"},
		askFor(publicID, loopback, "prompt", "none"):                               {MaxAge: -1, Silent: true},
		askFor(publicID, loopback, "prompt", "login consent", "max_age", "60"):     {MaxAge: time.Minute, SignIn: true},
		askFor(publicID, loopback, "prompt", "select_account", "ui_locales", "de"): {MaxAge: -1, SignIn: true},
	} {
		want.ClientID, want.Redirect, want.State, want.Challenge = publicID, loopback, "the state", oauth2.S256ChallengeFromVerifier("x")
		want.Lasts = 720 * time.Hour
		if got, err := f.Asked(t.Context(), query); err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", query, got, err, want)
		}
	}
}
