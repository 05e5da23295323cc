package oidc

import (
	"context"
	"fmt"

	"golang.org/x/oauth2"

	"sluice"
)

// SignInURL returns the URL at which a browser signs in at the provider, by the
// authorization code grant with PKCE. State, nonce and verifier are random and
// belong to this one sign-in.
func (p *Provider) SignInURL(ctx context.Context, redirect, state, nonce, verifier string) (string, error) {
	r, err := p.remote(ctx)
	if err != nil {
		return "", err
	}
	config := r.oauth
	config.RedirectURL = redirect
	return config.AuthCodeURL(state, oauth2.SetAuthURLParam("nonce", nonce), oauth2.S256ChallengeOption(verifier)), nil
}

// SignIn returns the identity that signed in at the provider, for the code with
// which the browser came back. Errors are Unauthenticated or Unavailable.
func (p *Provider) SignIn(ctx context.Context, redirect, code, nonce, verifier string) (id sluice.Identity, _ error) {
	token, err := p.ask(ctx, func(ctx context.Context, config oauth2.Config) (*oauth2.Token, error) {
		config.RedirectURL = redirect
		return config.Exchange(ctx, code, oauth2.VerifierOption(verifier))
	})
	if err != nil {
		return id, err
	}
	return p.signedIn(ctx, token, nonce)
}

// signedIn reads the identity in a reply of the token endpoint. The ID token says who
// signed in. If it has no roles, those of the access token count.
func (p *Provider) signedIn(ctx context.Context, token *oauth2.Token, nonce string) (none sluice.Identity, _ error) {
	text, _ := token.Extra("id_token").(string)
	found, err := p.verify(ctx, text, true)
	if err != nil {
		return none, unreachable(fmt.Errorf("the provider's ID token can't be used: %w", err))
	}
	if found.nonce != nonce {
		return none, sluice.WrongCredentials()
	}
	id := found.id
	access, err := p.verify(ctx, token.AccessToken, false)
	if err == nil && access.id.Username == id.Username && len(id.Roles) == 0 {
		id.Roles = access.id.Roles
	}
	if len(id.Roles) == 0 {
		p.rolesHint.Do(func() {
			p.Log.Warn("Neither the ID token nor the access token of who signed in has roles: they may do nothing "+
				"here. Let the provider put the roles into the claim.", "claim", p.RolesClaim)
		})
	}
	return id, nil
}
