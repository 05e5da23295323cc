package oidc

import (
	"testing"

	"golang.org/x/oauth2"

	"sluice"
	"sluice/oidc/oidctest"
)

func TestDex(t *testing.T) {
	issuer := oidctest.StartDex(t)
	const email, password = "anna@example.com", "dex-password"
	p := NewProvider(ProviderOptions{Issuer: issuer, ClientID: "receiver", ClientSecret: "receiver-secret", RolesClaim: "groups"})
	t.Cleanup(p.HTTP.CloseIdleConnections)
	check := func(what string, id sluice.Identity, err error) {
		t.Helper()
		if err != nil || id.Username != email || len(id.Roles) != 1 || id.Roles[0] != "developer" || id.Expires.IsZero() {
			t.Errorf("%s: %+v, %v", what, id, err)
		}
	}
	id, err := p.Password(t.Context(), email, password)
	check("password", id, err)
	if _, err := p.Password(t.Context(), email, "wrong"); kindOf(err) != sluice.Unauthenticated {
		t.Errorf("wrong password: %v", err)
	}
	if _, err := p.Password(t.Context(), "nobody@example.com", password); kindOf(err) != sluice.Unauthenticated {
		t.Errorf("unknown user: %v", err)
	}

	found, err := p.remote(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	config := found.oauth
	config.Scopes = append(config.Scopes, "offline_access")
	token, err := config.PasswordCredentialsToken(t.Context(), email, password)
	if err != nil {
		t.Fatal(err)
	}
	id, err = p.Access(t.Context(), token.AccessToken)
	check("access token", id, err)
	if _, err := p.Access(t.Context(), token.AccessToken+"x"); kindOf(err) != sluice.Unauthenticated {
		t.Errorf("broken access token: %v", err)
	}
	other := NewProvider(ProviderOptions{Issuer: issuer, ClientID: "receiver", ClientSecret: "receiver-secret", Audience: "another"})
	t.Cleanup(other.HTTP.CloseIdleConnections)
	if _, err := other.Access(t.Context(), token.AccessToken); kindOf(err) != sluice.Unauthenticated {
		t.Errorf("access token for another audience: %v", err)
	}
	refreshInDex(t, p, token, check)
}

func refreshInDex(t *testing.T, p *Provider, token *oauth2.Token, check func(string, sluice.Identity, error)) {
	t.Helper()
	for range 2 { // the second time from memory
		id, renewed, err := p.Refresh(t.Context(), token.RefreshToken)
		check("refresh token", id, err)
		if renewed == "" || renewed == token.RefreshToken {
			t.Errorf("Dex replaces refresh tokens, and this one is %q", renewed)
		}
		again, _, err := p.Refresh(t.Context(), renewed)
		check("new refresh token", again, err)
	}
	if _, _, err := p.Refresh(t.Context(), "x"+token.RefreshToken); err == nil {
		t.Error("a made-up refresh token is taken")
	}
}
