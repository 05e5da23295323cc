package oidc

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"sluice"
)

func TestProviderChecksPasswords(t *testing.T) {
	f := newFixture(t)
	p, count := newProvider(f, nil)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			id, err := p.Password(context.Background(), userName, userPassword)
			if err != nil || id.Username != userName || len(id.Roles) != 2 {
				t.Errorf("%+v, %v", id, err)
			}
		})
	}
	wg.Wait()
	if n := count.of(f, "token"); n != 1 {
		t.Errorf("%d exchanges for one password", n)
	}
	for range 2 {
		if _, err := p.Password(t.Context(), userName, "wrong"); kindOf(err) != sluice.Unauthenticated {
			t.Errorf("wrong password: %v", err)
		}
	}
	if n := count.of(f, "token"); n != 2 {
		t.Errorf("%d exchanges: the same wrong password was asked for twice", n)
	}
	f.wait(f.AccessTTL + time.Second)
	if _, err := p.Password(t.Context(), userName, userPassword); err != nil {
		t.Error(err)
	}
	if n := count.of(f, "token"); n != 3 {
		t.Errorf("%d exchanges: the answer outlives its token", n)
	}
}

func TestProviderForgetsARefusalSoon(t *testing.T) {
	f := newFixture(t)
	p, count := newProvider(f, nil)
	const late = "bert"
	for range 3 {
		if _, err := p.Password(t.Context(), late, userPassword); kindOf(err) != sluice.Unauthenticated {
			t.Fatal(err)
		}
		if _, _, err := p.Refresh(t.Context(), "made up"); kindOf(err) != sluice.Unauthenticated {
			t.Fatal(err)
		}
	}
	if n := count.of(f, "token"); n != 2 {
		t.Errorf("%d exchanges for one password and one refresh token", n)
	}
	f.directory.users[late] = nil // the provider gets that user
	if _, err := p.Password(t.Context(), userName, userPassword); err != nil {
		t.Errorf("another user's refusal counts: %v", err)
	}
	f.wait(refusedFor)
	if _, err := p.Password(t.Context(), late, userPassword); err != nil {
		t.Errorf("the refusal is not forgotten: %v", err)
	}
}

func TestProviderThatThrottlesIsPassedOn(t *testing.T) {
	f := newFixture(t)
	p, count := newProvider(f, nil)
	throttled := sluice.CodeTooManyLogins.Errorf("Too many.")
	throttled.RetryAfter = 30 * time.Second
	f.directory.failure = throttled
	for range 2 {
		_, err := p.Password(t.Context(), userName, userPassword)
		if e := sluice.AsError(err); e.Kind != sluice.Throttled || e.RetryAfter != 30*time.Second {
			t.Errorf("error is %v, try again in %s", err, e.RetryAfter)
		}
	}
	if n := count.of(f, "token"); n != 1 {
		t.Errorf("a provider that wants fewer requests gets %d", n)
	}
	for said, want := range map[string]time.Duration{
		"7": 7 * time.Second, "": 0, "soon": 0, "86400": time.Hour,
		time.Now().Add(2 * time.Hour).UTC().Format(http.TimeFormat): time.Hour,
	} {
		failure := &oauth2.RetrieveError{Response: &http.Response{Header: http.Header{"Retry-After": {said}}}}
		if got := retryAfterOf(failure); got != want {
			t.Errorf("%q is %s, want %s", said, got, want)
		}
	}
}

func TestProviderRefreshes(t *testing.T) {
	f := newFixture(t)
	p, count := newProvider(f, nil)
	login := f.post("token", "grant_type", "password", "client_id", secretID, "client_secret", robotSecret, "username", userName, "password", userPassword)
	first := login.str("refresh_token")
	exchanges := count.of(f, "token")
	var renewed atomic.Value
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			id, next, err := p.Refresh(context.Background(), first)
			if err != nil || id.Username != userName || next == "" || next == first {
				t.Errorf("%+v, %q, %v", id, next, err)
			}
			renewed.Store(next)
		})
	}
	wg.Wait()
	second := renewed.Load().(string)
	if id, next, err := p.Refresh(t.Context(), second); err != nil || id.Username != userName || next != "" {
		t.Errorf("the new token: %+v, %q, %v", id, next, err)
	}
	if n := count.of(f, "token") - exchanges; n != 1 {
		t.Errorf("%d exchanges for one refresh token", n)
	}
	f.wait(f.AccessTTL + time.Second)
	if _, next, err := p.Refresh(t.Context(), second); err != nil || next == "" {
		t.Errorf("after the access token has expired: %q, %v", next, err)
	}
	if _, _, err := p.Refresh(t.Context(), first); kindOf(err) != sluice.Unauthenticated {
		t.Errorf("the first token still works: %v", err)
	}
	for _, garbage := range []string{"", "x", string(make([]byte, 2*maxToken))} {
		if _, _, err := p.Refresh(t.Context(), garbage); kindOf(err) != sluice.Unauthenticated {
			t.Errorf("%.10q: %v", garbage, err)
		}
	}
}

func TestProviderThatRefusesUsIsUnavailable(t *testing.T) {
	f := newFixture(t)
	for name, change := range map[string]func(*ProviderOptions){
		"wrong secret":        func(o *ProviderOptions) { o.ClientSecret = "guess" },
		"unknown client":      func(o *ProviderOptions) { o.ClientID = "nobody" },
		"nothing at its path": func(o *ProviderOptions) { o.Issuer = f.server.URL },
		"other issuer":        func(o *ProviderOptions) { o.Issuer = f.URL() + "/" },
	} {
		p, _ := newProvider(f, change)
		if _, err := p.Password(t.Context(), userName, userPassword); kindOf(err) != sluice.Unavailable {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestProviderThatTakesNoRefreshTokensSaysSo(t *testing.T) {
	f := newFixture(t)
	p, _ := newProvider(f, func(o *ProviderOptions) { o.ClientID, o.ClientSecret = "once", "" })
	_, _, err := p.Refresh(t.Context(), f.login("").str("refresh_token"))
	if e := sluice.AsError(err); e.Kind != sluice.Unauthenticated || e.Code != "authorization-unsupported" {
		t.Errorf("error is %v", err)
	}
}

func TestProviderFallsBackOnTheIDToken(t *testing.T) {
	f := newFixture(t)
	log := new(bytes.Buffer)
	p, _ := newProvider(f, func(o *ProviderOptions) {
		o.Audience = "what access tokens are not for"
		o.Log = slog.New(slog.NewTextHandler(log, nil))
	})
	f.directory.users["bert"] = nil
	for _, name := range []string{userName, "bert"} {
		id, err := p.Password(t.Context(), name, userPassword)
		if err != nil || id.Username != name || id.Roles == nil || len(id.Roles) != 0 {
			t.Errorf("%+v, %v", id, err)
		}
	}
	if said := log.String(); strings.Count(said, "ID token has no roles") != 1 || !strings.Contains(said, "claim=roles") {
		t.Errorf("the log says %q", said)
	}
}
