// Package oidc finds whom tokens stand for. An Issuer makes tokens of its own
// and checks them; a Provider asks an external OpenID provider. Both are
// sluice.Tokens.
//
// The issuer is a small OAuth 2.0 server. The token endpoint does what every grant needs
// (reading the form, authenticating the client, deciding the scope, writing the answer),
// so that no grant can forget it. Access tokens are JWTs signed with ES256; refresh tokens
// are random and stored as hashes.
//
// When a person lets a program act for them, package portal has the pages and the
// sessions of browsers; this package decides what is asked and granted.
//
// Users, passwords and their throttling are behind sluice.Directory, which
// package iam implements; so is reading the Authorization header of commands.
// Package jetstream stores sessions and signing keys.
package oidc

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"strings"
	"time"

	"sluice"
	"sluice/limit"
)

// ownAudience is what access tokens of the embedded issuer are for.
const ownAudience = "sluice"

// leeway is how far clocks may differ when the times of a token are checked. It
// does not prolong our own tokens: see checkToken.
const leeway = time.Minute

// maxRemembered bounds each cache.
const maxRemembered = 10_000

// A fingerprint stands for a secret without giving it away.
type fingerprint [sha256.Size]byte

// maxToken bounds a token before it is parsed.
const maxToken = 8 << 10

// IssuerOptions are what an embedded issuer is made of.
type IssuerOptions struct {
	BaseURL   string // under which callers reach the server
	Namespace string // the realm
	Directory sluice.Directory
	Sessions  sluice.Records[sluice.Session]
	Keys      sluice.Records[sluice.SigningKey]

	AccessTTL  time.Duration // how long an access token is valid
	RefreshTTL time.Duration // how long a login lasts, however often it is refreshed
	Rotation   time.Duration // how long a key signs

	Observe func(context.Context, sluice.Login)  // told of every request for tokens
	Ended   func(context.Context, sluice.Logout) // told of every login that its client or a thief ended
	Log     *slog.Logger
}

// An Issuer makes access and refresh tokens, and checks them.
type Issuer struct {
	IssuerOptions

	url      string // its identifier
	keys     *keyring
	sessions *sessions
	verified *limit.Cache[fingerprint, *verified]
	grants   map[string]grant
	now      func() time.Time
}

// NewIssuer returns an issuer. It stores nothing before it is used.
func NewIssuer(o IssuerOptions) *Issuer {
	i := &Issuer{
		IssuerOptions: o,
		url:           strings.TrimSuffix(o.BaseURL, "/") + sluice.RealmsPath + o.Namespace,
		verified:      limit.NewCache[fingerprint, *verified](maxRemembered),
		now:           time.Now,
	}
	clock := func() time.Time { return i.now() }
	i.keys = &keyring{
		records: o.Keys, rotation: o.Rotation, grace: o.AccessTTL + 2*leeway, now: clock,
	}
	i.sessions = &sessions{
		records: o.Sessions, now: clock,
		reused: func(ctx context.Context, s *sluice.Session) { i.noteEnded(ctx, s, true) },
	}
	i.grants = map[string]grant{
		"password":           {scope: userScope, run: i.password, public: true},
		"refresh_token":      {scope: i.refreshScope, run: i.refresh, public: true},
		"client_credentials": {scope: clientScope, run: i.clientCredentials},
		"authorization_code": {scope: userScope, run: i.code, public: true},
	}
	return i
}

// URL is the issuer's identifier.
func (i *Issuer) URL() string { return i.url }

// RotateKey makes a new key that signs tokens from now on. Tokens that the keys
// before have signed stay valid until they expire.
func (i *Issuer) RotateKey(ctx context.Context) (id string, created time.Time, err error) {
	key, err := i.keys.add(ctx, func(*sluice.SigningKey) bool { return false })
	if err != nil {
		return "", time.Time{}, err
	}
	return key.ID, key.Created, nil
}

// Refresh checks a refresh token without using it up. One that was replaced by
// another is refused and ends its login, as it does at the token endpoint.
func (i *Issuer) Refresh(ctx context.Context, token string) (id sluice.Identity, renewed string, err error) {
	session, err := i.sessions.accept(ctx, token)
	if err != nil {
		return sluice.Identity{}, "", err
	}
	if session == nil {
		return sluice.Identity{}, "", invalidToken("The refresh token is not valid, or was used before. Log in again.")
	}
	return sluice.Identity{
		Username: session.Username,
		ClientID: session.ClientID,
		Scope:    session.Scope,
		Expires:  session.Expires,
	}, "", nil
}

// noteEnded calls Ended for a login. The address of the caller is in ctx.
func (i *Issuer) noteEnded(ctx context.Context, s *sluice.Session, reused bool) {
	i.Ended(ctx, sluice.Logout{
		Username: s.Username, ClientID: s.ClientID, Address: sluice.UserFrom(ctx).Address, Reused: reused,
	})
}

func invalidToken(message string) *sluice.Error {
	return sluice.CodeInvalidToken.Errorf("%s", message)
}
