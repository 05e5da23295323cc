package oidc

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/oauth2"

	"sluice"
	"sluice/limit"
)

const (
	maxExchanges = 64              // requests to the provider at the same time
	refusedFor   = 5 * time.Second // how long a refusal of the provider is remembered
)

// exchanged is what the provider answered to a password or a refresh token.
type exchanged struct {
	id      sluice.Identity
	renewed string // the refresh token to use next; kept for callers who missed it
	refusal error  // in place of both
}

// Password returns the user with that password: Unauthenticated if the provider
// says so, Throttled if it gets too many requests, Unavailable if it can't be
// reached. The answer is remembered until the token that came with it expires,
// a refusal for a few seconds. The caller counts wrong passwords, including
// those that are remembered here.
func (p *Provider) Password(ctx context.Context, username, password string) (none sluice.Identity, _ error) {
	if username == "" || password == "" || len(password) > limit.MaxPassword {
		return none, sluice.WrongCredentials()
	}
	answer, err := p.exchange(ctx, p.fingerprint("password", username, password),
		func(ctx context.Context, config oauth2.Config) (*oauth2.Token, error) {
			token, err := config.PasswordCredentialsToken(ctx, username, password)
			if err == nil {
				token.RefreshToken = "" // it is never used
			}
			return token, err
		})
	return answer.id, err
}

// Refresh returns whom a refresh token of the provider stands for. If the
// provider replaces the token, renewed is the new one; until the access token
// expires the old one goes on working here, for calls that are under way.
func (p *Provider) Refresh(ctx context.Context, token string) (id sluice.Identity, renewed string, err error) {
	if token == "" || len(token) > maxToken {
		return sluice.Identity{}, "", sluice.WrongCredentials()
	}
	answer, err := p.exchange(ctx, p.fingerprint("refresh", token),
		func(ctx context.Context, config oauth2.Config) (*oauth2.Token, error) {
			return config.TokenSource(ctx, &oauth2.Token{RefreshToken: token}).Token()
		})
	if answer.renewed == token {
		answer.renewed = ""
	}
	return answer.id, answer.renewed, err
}

// exchange returns what the provider answers, now or a short time ago.
func (p *Provider) exchange(
	ctx context.Context, digest fingerprint, how exchange,
) (exchanged, error) {
	if known, ok := p.exchanged.Get(digest, p.now()); ok {
		return known, known.refusal
	}
	return share(ctx, &p.exchanges, string(digest[:]), func(ctx context.Context) (none exchanged, _ error) {
		if known, ok := p.exchanged.Get(digest, p.now()); ok {
			return known, known.refusal // it came while this call was on its way here
		}
		token, err := p.ask(ctx, how)
		if err != nil {
			if !sluice.Unavailable.Is(err) {
				p.exchanged.Put(digest, exchanged{refusal: err}, p.now().Add(refusedFor))
			}
			return none, err
		}
		answer, err := p.read(ctx, token)
		if err == nil {
			p.remember(digest, answer)
		}
		return answer, err
	})
}

// An exchange asks the token endpoint of the provider, with the client that ctx has.
type exchange func(ctx context.Context, config oauth2.Config) (*oauth2.Token, error)

// ask lets an exchange ask the provider, unless too many do.
func (p *Provider) ask(ctx context.Context, how exchange) (*oauth2.Token, error) {
	if p.busy.Enter() != nil {
		return nil, unreachable(errors.New("too many exchanges at the same time"))
	}
	defer p.busy.Leave()
	r, err := p.remote(ctx)
	if err != nil {
		return nil, err
	}
	token, err := how(context.WithValue(ctx, oauth2.HTTPClient, p.HTTP), r.oauth)
	if err != nil {
		return nil, refusal(err)
	}
	return token, nil
}

// read returns the identity in a reply of the token endpoint. Most providers put the roles
// into the access token; the ID token is read if the access token is not for us.
func (p *Provider) read(ctx context.Context, token *oauth2.Token) (exchanged, error) {
	found, err := p.verify(ctx, token.AccessToken, false)
	if idToken, ok := token.Extra("id_token").(string); ok && err != nil {
		found, err = p.verify(ctx, idToken, true)
		if err == nil && len(found.id.Roles) == 0 {
			p.rolesHint.Do(func() {
				p.Log.Warn("The identity provider's access token can't be used here, and its ID token has no roles: "+
					"who logs in by Basic or Refresh may do nothing. Let the provider put the roles into the claim, "+
					"or the audience into the access token.",
					"claim", p.RolesClaim, "audience", p.Audience)
			})
		}
	}
	if err != nil {
		return exchanged{}, unreachable(fmt.Errorf("none of the provider's tokens can be used: %w", err))
	}
	if !token.Expiry.IsZero() && token.Expiry.Before(found.id.Expires) {
		found.id.Expires = token.Expiry
	}
	return exchanged{id: found.id, renewed: token.RefreshToken}, nil
}

// remember keeps a reply until it expires, also under the new refresh token, which need
// not be used up to learn the same.
func (p *Provider) remember(digest fingerprint, answer exchanged) {
	p.exchanged.Put(digest, answer, answer.id.Expires)
	if answer.renewed != "" {
		p.exchanged.Put(p.fingerprint("refresh", answer.renewed), answer, answer.id.Expires)
	}
}

// fingerprint returns what stands for credentials. Its key never leaves the
// process, so passwords can't be tried on stored fingerprints.
func (p *Provider) fingerprint(parts ...string) (id fingerprint) {
	h := hmac.New(sha256.New, p.key)
	for _, part := range parts {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		h.Write([]byte(part))
	}
	return fingerprint(h.Sum(id[:0]))
}

// refusal returns the error of a failed exchange: wrong credentials, a kind of credentials
// that the provider does not take, too many requests, or a provider that can't be used,
// by its own fault or because of our settings there.
func refusal(err error) *sluice.Error {
	failure, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok {
		return unreachable(err)
	}
	switch sluice.Code(failure.ErrorCode) {
	case sluice.CodeInvalidGrant, "access_denied":
		return sluice.WrongCredentials()
	case sluice.CodeUnauthorizedClient, sluice.CodeUnsupportedGrantType:
		return sluice.CodeAuthorizationUnsupported.Errorf(
			"The identity provider takes no such credentials from this service; use Bearer with a token of its own.")
	}
	if failure.Response.StatusCode == http.StatusTooManyRequests {
		return sluice.CodeProviderThrottled.Errorf(
			"The identity provider is asked too often. Try again later.").After(max(retryAfter, retryAfterOf(failure)))
	}
	// The error's own text has the whole answer, which may hold anything.
	return unreachable(fmt.Errorf("the provider's token endpoint answered %d with error %q",
		failure.Response.StatusCode, failure.ErrorCode)).After(max(retryAfter, retryAfterOf(failure)))
}

// retryAfterOf returns how long the provider asks to wait, an hour at most.
func retryAfterOf(failure *oauth2.RetrieveError) time.Duration {
	wait, _ := sluice.RetryAfter(failure.Response.Header.Get("Retry-After"), time.Now())
	return min(wait, time.Hour)
}
