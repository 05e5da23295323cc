package oidc

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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
	if n := count.of(f, "token"); n != 3 {
		t.Errorf("%d exchanges: a wrong password must be asked for once each time", n)
	}
	f.wait(f.AccessTTL + time.Second)
	if _, err := p.Password(t.Context(), userName, userPassword); err != nil {
		t.Error(err)
	}
	if n := count.of(f, "token"); n != 4 {
		t.Errorf("%d exchanges: the answer outlives its token", n)
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

func TestProviderFallsBackOnTheIDToken(t *testing.T) {
	f := newFixture(t)
	p, _ := newProvider(f, func(o *ProviderOptions) { o.Audience = "what access tokens are not for" })
	id, err := p.Password(t.Context(), userName, userPassword)
	if err != nil || id.Username != userName || id.Roles == nil || len(id.Roles) != 0 {
		t.Errorf("%+v, %v", id, err)
	}
}
