package oidc

import (
	"context"
	"errors"
	"fmt"

	goidc "github.com/coreos/go-oidc/v3/oidc"
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
	return config.AuthCodeURL(state, goidc.Nonce(nonce), oauth2.S256ChallengeOption(verifier)), nil
}

// SignIn returns the identity that signed in at the provider, for the code with
// which the browser came back. Errors are Unauthenticated or Unavailable.
func (p *Provider) SignIn(ctx context.Context, redirect, code, nonce, verifier string) (id sluice.Identity, _ error) {
	select {
	case p.busy <- struct{}{}:
		defer func() { <-p.busy }()
	default:
		return id, unreachable(errors.New("too many exchanges at the same time"))
	}
	r, err := p.remote(ctx)
	if err != nil {
		return id, err
	}
	config := r.oauth
	config.RedirectURL = redirect
	token, err := config.Exchange(goidc.ClientContext(ctx, p.HTTP), code, oauth2.VerifierOption(verifier))
	if err != nil {
		return id, refusal(err)
	}
	return p.signedIn(ctx, r, token, nonce)
}

// signedIn reads the identity in a reply of the token endpoint. The ID token says who
// signed in. If it has no roles, those of the access token count.
func (p *Provider) signedIn(
	ctx context.Context, r *remote, token *oauth2.Token, nonce string,
) (none sluice.Identity, _ error) {
	text, _ := token.Extra("id_token").(string)
	found, err := p.verify(ctx, text, true)
	if err != nil {
		return none, unreachable(fmt.Errorf("the provider's ID token can't be used: %w", err))
	}
	verified, err := r.verifier.Verify(ctx, text)
	if err != nil || verified.Nonce != nonce {
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
