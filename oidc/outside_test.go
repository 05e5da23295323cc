package oidc

import (
	"context"
	"errors"
	"testing"
	"time"

	goidc "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// The tests of this file use clients that others wrote.

func discover(t *testing.T, f *fixture) *goidc.Provider {
	t.Helper()
	provider, err := goidc.NewProvider(context.WithoutCancel(t.Context()), f.URL())
	if err != nil {
		t.Fatal(err)
	}
	return provider
}

func TestOutsideClientLogsInAndRefreshes(t *testing.T) {
	f := newFixture(t)
	for name, config := range map[string]oauth2.Config{
		"public, style found out": {ClientID: publicID},
		"secret, style found out": {ClientID: secretID, ClientSecret: robotSecret},
		"secret by form":          {ClientID: secretID, ClientSecret: robotSecret, Endpoint: oauth2.Endpoint{AuthStyle: oauth2.AuthStyleInParams}},
		"secret by header":        {ClientID: secretID, ClientSecret: robotSecret, Endpoint: oauth2.Endpoint{AuthStyle: oauth2.AuthStyleInHeader}},
	} {
		t.Run(name, func(t *testing.T) {
			style := config.Endpoint.AuthStyle
			config.Endpoint = discover(t, f).Endpoint()
			config.Endpoint.AuthStyle = style
			config.Scopes = []string{"openid", "profile"}
			first, err := config.PasswordCredentialsToken(t.Context(), userName, userPassword)
			if err != nil {
				t.Fatal(err)
			}
			if !first.Valid() || time.Until(first.Expiry) > 5*time.Minute || !f.accepts(first.AccessToken) {
				t.Errorf("token is %+v", first)
			}
			second, err := config.TokenSource(t.Context(), &oauth2.Token{RefreshToken: first.RefreshToken}).Token()
			if err != nil {
				t.Fatal(err)
			}
			if second.RefreshToken == first.RefreshToken || !f.accepts(second.AccessToken) {
				t.Errorf("token is %+v", second)
			}
			_, err = config.TokenSource(t.Context(), &oauth2.Token{RefreshToken: first.RefreshToken}).Token()
			if failure, ok := errors.AsType[*oauth2.RetrieveError](err); !ok || failure.ErrorCode != "invalid_grant" {
				t.Errorf("reuse gives %v", err)
			}
		})
	}
}

func TestOutsideClientIsToldOfAWrongPassword(t *testing.T) {
	f := newFixture(t)
	config := oauth2.Config{ClientID: publicID, Endpoint: discover(t, f).Endpoint()}
	_, err := config.PasswordCredentialsToken(t.Context(), userName, "wrong")
	failure, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok || failure.ErrorCode != "invalid_grant" || failure.ErrorDescription == "" {
		t.Errorf("error is %v", err)
	}
}

func TestOutsideClientGetsATokenForItself(t *testing.T) {
	f := newFixture(t)
	config := clientcredentials.Config{ClientID: secretID, ClientSecret: robotSecret, TokenURL: discover(t, f).Endpoint().TokenURL}
	token, err := config.Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if id, err := f.Access(t.Context(), token.AccessToken); err != nil || !id.Client || token.RefreshToken != "" {
		t.Errorf("token is %+v of %+v, %v", token, id, err)
	}
}

func TestOutsideClientVerifiesIDTokens(t *testing.T) {
	f := newFixture(t)
	provider := discover(t, f)
	config := oauth2.Config{ClientID: publicID, Endpoint: provider.Endpoint(), Scopes: []string{"openid", "profile"}}
	token, err := config.PasswordCredentialsToken(t.Context(), userName, userPassword)
	if err != nil {
		t.Fatal(err)
	}
	verifier := provider.Verifier(&goidc.Config{ClientID: publicID})
	id, err := verifier.Verify(t.Context(), token.Extra("id_token").(string))
	if err != nil {
		t.Fatal(err)
	}
	var claims struct {
		Username string `json:"preferred_username"`
	}
	if err := id.Claims(&claims); err != nil || id.Subject != userName || claims.Username != userName {
		t.Errorf("ID token says %+v, %+v, %v", id, claims, err)
	}
	if _, err := provider.Verifier(&goidc.Config{ClientID: secretID}).Verify(t.Context(), token.Extra("id_token").(string)); err == nil {
		t.Error("the ID token is for any client")
	}
	info, err := provider.UserInfo(t.Context(), oauth2.StaticTokenSource(token))
	if err != nil || info.Subject != userName {
		t.Errorf("user info is %+v, %v", info, err)
	}

	f.wait(f.Rotation) // the verifier must find the new key by itself
	token, err = config.PasswordCredentialsToken(t.Context(), userName, userPassword)
	if err != nil {
		t.Fatal(err)
	}
	later := provider.Verifier(&goidc.Config{ClientID: publicID, Now: f.now})
	if _, err := later.Verify(t.Context(), token.Extra("id_token").(string)); err != nil {
		t.Errorf("after the rotation: %v", err)
	}
}
