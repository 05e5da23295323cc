package oidc

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	goidc "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"sluice"
)

const loopback = "http://127.0.0.1:43210/callback"

// A program asks for a code with a client library that others wrote.
type program struct {
	f        *fixture
	config   oauth2.Config
	verifier string
}

func newProgram(f *fixture, clientID, redirect string) *program {
	f.t.Helper()
	p := &program{f: f, verifier: oauth2.GenerateVerifier()}
	p.config = oauth2.Config{ClientID: clientID, RedirectURL: redirect, Endpoint: discover(f.t, f).Endpoint(), Scopes: []string{"openid", "profile"}}
	if f.directory.clients[clientID].Secret != "" {
		p.config.ClientSecret = robotSecret
	}
	return p
}

// ask returns the query with which a browser is sent to the issuer.
func (p *program) ask(more ...oauth2.AuthCodeOption) string {
	p.f.t.Helper()
	target, err := url.Parse(p.config.AuthCodeURL("the-state", append(more, oauth2.S256ChallengeOption(p.verifier))...))
	if err != nil {
		p.f.t.Fatal(err)
	}
	if target.Path != sluice.AuthorizePath {
		p.f.t.Errorf("browsers are sent to %s", target)
	}
	return target.RawQuery
}

// allowed returns the code that the program gets when the person allows it.
func (p *program) allowed(more ...oauth2.AuthCodeOption) string {
	p.f.t.Helper()
	asked, err := p.f.Asked(p.f.t.Context(), p.ask(more...))
	if err != nil || asked.Refused != "" {
		p.f.t.Fatal(err, asked.Refused)
	}
	back, err := p.f.Allow(p.f.t.Context(), asked, userName, p.f.now().Add(-time.Hour))
	if err != nil {
		p.f.t.Fatal(err)
	}
	target, err := url.Parse(back)
	if err != nil || !strings.HasPrefix(back, p.config.RedirectURL) {
		p.f.t.Fatalf("the code goes to %s, %v", back, err)
	}
	answer := target.Query()
	if answer.Get("state") != "the-state" || answer.Get("iss") != p.f.URL() {
		p.f.t.Errorf("the answer is %v", answer)
	}
	return answer.Get("code")
}

// redeem shows a code at the token endpoint, with changes to the form.
func (p *program) redeem(code string, changes ...string) reply {
	p.f.t.Helper()
	values := url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {p.config.RedirectURL},
		"client_id": {p.config.ClientID}, "code_verifier": {p.verifier},
	}
	if p.config.ClientSecret != "" {
		values.Set("client_secret", p.config.ClientSecret)
	}
	for n := 0; n < len(changes); n += 2 {
		values.Set(changes[n], changes[n+1])
	}
	return p.f.do(http.MethodPost, protocol+"/token", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, strings.NewReader(values.Encode()))
}

func (r reply) isDead(t *testing.T, what string) {
	t.Helper()
	if r.status != 400 || r.str("error") != "invalid_grant" {
		t.Errorf("%s: answered %d %s", what, r.status, r.text)
	}
}

// TestCode: a program on the person's machine and one on a server get tokens that
// stand for the person, with nothing but a library.
func TestCode(t *testing.T) {
	f := newFixture(t)
	for client, redirect := range map[string]string{publicID: loopback, webID: webRedirect} {
		t.Run(client, func(t *testing.T) {
			p := newProgram(f, client, redirect)
			code := p.allowed(goidc.Nonce("the-nonce"))
			token, err := p.config.Exchange(t.Context(), code, oauth2.VerifierOption(p.verifier))
			if err != nil {
				t.Fatal(err)
			}
			identity, err := f.Access(t.Context(), token.AccessToken)
			if err != nil || identity.Username != userName || identity.ClientID != client || identity.Scope != "openid profile" {
				t.Errorf("the token is of %+v, %v", identity, err)
			}
			if refreshable := token.RefreshToken != ""; refreshable != (client == publicID) {
				t.Errorf("the refresh token is %q", token.RefreshToken)
			}
			id, err := discover(t, f).Verifier(&goidc.Config{ClientID: client}).Verify(t.Context(), token.Extra("id_token").(string))
			if err != nil {
				t.Fatal(err)
			}
			var claims struct {
				AuthTime int64 `json:"auth_time"`
			}
			if err := id.Claims(&claims); err != nil || id.Nonce != "the-nonce" || id.Subject != userName {
				t.Errorf("the ID token says %+v, %v", id, err)
			}
			if err := id.VerifyAccessToken(token.AccessToken); err != nil {
				t.Error(err)
			}
			if age := f.now().Sub(time.Unix(claims.AuthTime, 0)); age < 59*time.Minute || age > 61*time.Minute {
				t.Errorf("the person signed in %v ago", age)
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			login := f.logins[len(f.logins)-1]
			if login.Grant != "authorization_code" || login.Username != userName || login.ClientID != client || login.Outcome != sluice.Granted {
				t.Errorf("it was observed as %+v", login)
			}
		})
	}
}

// TestCodeIsRefreshed: the login goes on as any other, without the nonce.
func TestCodeIsRefreshed(t *testing.T) {
	f := newFixture(t)
	p := newProgram(f, publicID, loopback)
	first := p.redeem(p.allowed(goidc.Nonce("the-nonce")))
	second := f.renew(first.str("refresh_token"))
	if second.status != 200 || !f.accepts(second.str("access_token")) {
		t.Fatalf("%d %s", second.status, second.text)
	}
	id, err := discover(t, f).Verifier(&goidc.Config{ClientID: publicID}).Verify(t.Context(), second.str("id_token"))
	if err != nil || id.Nonce != "" {
		t.Errorf("the ID token says %+v, %v", id, err)
	}
	f.renew(first.str("refresh_token")).isDead(t, "an old refresh token")
	if f.accepts(second.str("access_token")) {
		t.Error("the login outlives the reuse of a refresh token")
	}
}

// TestCodeIsUsedOnce: a second use is refused and ends the login of the first.
func TestCodeIsUsedOnce(t *testing.T) {
	f := newFixture(t)
	p := newProgram(f, publicID, loopback)
	code := p.allowed()
	first := p.redeem(code)
	if first.status != 200 {
		t.Fatalf("%d %s", first.status, first.text)
	}
	p.redeem(code, "code_verifier", oauth2.GenerateVerifier()).isDead(t, "a thief without the verifier")
	if !f.accepts(first.str("access_token")) {
		t.Error("anyone who finds an old code can end the login")
	}
	p.redeem(code).isDead(t, "a second use")
	if f.accepts(first.str("access_token")) || f.acceptsRefresh(first.str("refresh_token")) {
		t.Error("the login outlives the second use of its code")
	}
	p.redeem(code).isDead(t, "a third use")
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.endings) != 1 || !f.endings[0].Reused || f.endings[0].Username != userName {
		t.Errorf("the ends are %+v", f.endings)
	}
}

// TestCodeNeedsItsProof: a code is worth nothing to another client, for another
// place or without the verifier; and after one such try to nobody.
func TestCodeNeedsItsProof(t *testing.T) {
	f := newFixture(t)
	for name, change := range map[string][]string{
		"wrong verifier": {"code_verifier", oauth2.GenerateVerifier()},
		"no verifier":    {"code_verifier", ""},
		"the challenge":  {"code_verifier", oauth2.S256ChallengeFromVerifier("x")},
		"another port":   {"redirect_uri", "http://127.0.0.1:43211/callback"},
		"no redirect":    {"redirect_uri", ""},
		"another client": {"client_id", secretID, "client_secret", robotSecret},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProgram(f, publicID, loopback)
			code := p.allowed()
			p.redeem(code, change...).isDead(t, name)
			p.redeem(code).isDead(t, "the right program after it")
		})
	}
	p := newProgram(f, webID, webRedirect)
	code := p.allowed()
	if r := p.redeem(code, "client_secret", "wrong"); r.status != 401 || r.str("error") != "invalid_client" {
		t.Errorf("a wrong secret: %d %s", r.status, r.text)
	}
	if r := p.redeem(code, "client_secret", ""); r.status != 401 || r.str("error") != "invalid_client" {
		t.Errorf("no secret: %d %s", r.status, r.text)
	}
	if r := p.redeem(""); r.status != 400 || r.str("error") != "invalid_request" {
		t.Errorf("no code: %d %s", r.status, r.text)
	}
	p.redeem("made-up").isDead(t, "a made-up code")
	p.redeem(random(familySize)).isDead(t, "another made-up code")
}

// TestCodeEnds: with its minute, with its user, and with what ends all logins of
// the user or of the client.
func TestCodeEnds(t *testing.T) {
	for name, end := range map[string]func(*fixture) error{
		"time":     func(f *fixture) error { f.wait(codeTTL); return nil },
		"user":     func(f *fixture) error { f.directory.remove(); return nil },
		"password": func(f *fixture) error { return EndSessions(f.t.Context(), f.Sessions, userName, "") },
		"client":   func(f *fixture) error { return EndSessions(f.t.Context(), f.Sessions, "", publicID) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			p := newProgram(f, publicID, loopback)
			code := p.allowed()
			if err := end(f); err != nil {
				t.Fatal(err)
			}
			p.redeem(code).isDead(t, name)
			if left := len(f.Sessions.All()); left != 0 {
				t.Errorf("%d logins are left", left)
			}
		})
	}
}

// TestCodeIsNoRefreshToken: nothing but the token endpoint takes it, and nothing
// of it is stored.
func TestCodeIsNoRefreshToken(t *testing.T) {
	f := newFixture(t)
	code := newProgram(f, publicID, loopback).allowed()
	for _, token := range []string{code, code + ".", code + "." + random(secretSize)} {
		if f.accepts(token) || f.acceptsRefresh(token) {
			t.Errorf("%q is accepted", token)
		}
		f.renew(token).isDead(t, token)
	}
	for _, session := range f.Sessions.All() {
		if session.ID == code || session.Hash != "" {
			t.Errorf("stored is %+v", session)
		}
	}
}

// TestOfParallelUsesOfACodeOneWins: on any number of nodes, and the login of the
// one that wins does not outlive the others.
func TestOfParallelUsesOfACodeOneWins(t *testing.T) {
	a, b := newNodes(t)
	p := newProgram(a, publicID, loopback)
	other := *p
	other.f = b
	code := p.allowed()
	answers := make(chan reply, 20)
	var wg sync.WaitGroup
	for n := range cap(answers) {
		wg.Go(func() {
			if n%2 == 0 {
				answers <- p.redeem(code)
			} else {
				answers <- other.redeem(code)
			}
		})
	}
	wg.Wait()
	close(answers)
	won := 0
	for r := range answers {
		if r.status == 200 {
			won++
			continue
		}
		r.isDead(t, "a use that lost")
	}
	if won != 1 || len(a.Sessions.All()) != 0 {
		t.Errorf("%d uses won, %d logins are left", won, len(a.Sessions.All()))
	}
}
