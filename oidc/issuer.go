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
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
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

	Observe func(context.Context, Login)  // told of every request for tokens; may be nil
	Ended   func(context.Context, Ending) // told of every login that its client or a thief ended; may be nil
	Log     *slog.Logger
}

// A Login is a request for tokens and its outcome. It holds no secrets. Its names are
// unchecked unless the outcome is Granted.
type Login struct {
	Grant    string // empty if there is none of that name
	ClientID string
	Username string // empty if the client asks for itself
	Address  string // of the client
	Outcome  string // Granted, or the error code of the answer
}

// An Ending is the end of a login by a logout or a revocation, or because one of
// its refresh tokens was used twice.
type Ending struct {
	Username string
	ClientID string
	Address  string // where the end came from
	Reused   bool   // a refresh token was used twice
}

// Granted is the outcome of a login that got its tokens.
const Granted = "granted"

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
	if o.Observe == nil {
		o.Observe = func(context.Context, Login) {}
	}
	if o.Ended == nil {
		o.Ended = func(context.Context, Ending) {}
	}
	i := &Issuer{
		IssuerOptions: o,
		url:           strings.TrimSuffix(o.BaseURL, "/") + sluice.RealmsPath + o.Namespace,
		verified:      limit.NewCache[fingerprint, *verified](maxRemembered),
		now:           time.Now,
	}
	clock := func() time.Time { return i.now() }
	i.keys = &keyring{records: o.Keys, rotation: o.Rotation, grace: o.AccessTTL + 2*leeway, now: clock, parsed: make(map[string]*signingKey)}
	i.sessions = &sessions{records: o.Sessions, now: clock, reused: func(ctx context.Context, s *sluice.Session) { i.tellEnded(ctx, s, true) }}
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

// tellEnded calls Ended for a login. The address of the caller is in ctx.
func (i *Issuer) tellEnded(ctx context.Context, s *sluice.Session, reused bool) {
	i.Ended(ctx, Ending{Username: s.Username, ClientID: s.ClientID, Address: sluice.UserFrom(ctx).Address, Reused: reused})
}

func invalidToken(message string) *sluice.Error {
	return sluice.Errorf(sluice.CodeInvalidToken, "%s", message)
}

// A keyring holds the keys that sign tokens. All nodes share the stored ones;
// a key is parsed once per process.
type keyring struct {
	records  sluice.Records[sluice.SigningKey]
	rotation time.Duration // how long a key signs
	grace    time.Duration // how long its tokens may outlive that
	now      func() time.Time

	rotating sync.Mutex
	mu       sync.RWMutex
	parsed   map[string]*signingKey
}

// signing returns the key to sign with, a new one if it is time.
func (k *keyring) signing(ctx context.Context) (*signingKey, error) {
	live, dead := k.sort(k.records.All())
	if len(live) == 0 || !k.fresh(live[0]) || len(dead) > 0 {
		if err := k.rotate(ctx); err != nil {
			return nil, err
		}
		live, _ = k.sort(k.records.All())
	}
	if len(live) == 0 {
		return nil, errors.New("the new signing key is gone")
	}
	return k.parse(live[0])
}

// published returns the keys whose tokens may be valid, the newest first.
func (k *keyring) published(ctx context.Context) ([]*signingKey, error) {
	if _, err := k.signing(ctx); err != nil {
		return nil, err
	}
	live, _ := k.sort(k.records.All())
	keys := make([]*signingKey, 0, len(live))
	for _, record := range live {
		key, err := k.parse(record)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// find returns the key with that id, or nil. A caller may have made up the id.
func (k *keyring) find(ctx context.Context, id string) (*signingKey, error) {
	if !isRandom(id, familySize) {
		return nil, nil
	}
	live, dead := k.sort(k.records.All())
	same := func(r *sluice.SigningKey) bool { return r.ID == id }
	if n := slices.IndexFunc(live, same); n >= 0 {
		return k.parse(live[n])
	}
	if slices.ContainsFunc(dead, same) {
		return nil, nil
	}
	record, err := k.records.Get(ctx, id) // another node may just have made it
	if err != nil || record == nil {
		return nil, err
	}
	return k.parse(record)
}

// sort puts the newest key first. dead are the keys whose successor is so old that none of
// their tokens is valid any more.
func (k *keyring) sort(records []*sluice.SigningKey) (live, dead []*sluice.SigningKey) {
	slices.SortFunc(records, func(a, b *sluice.SigningKey) int { return b.Created.Compare(a.Created) })
	for n := 1; n < len(records); n++ {
		if records[n-1].Created.Add(k.grace).Before(k.now()) {
			return records[:n], records[n:]
		}
	}
	return records, nil
}

// fresh reports whether a key is young enough to sign.
func (k *keyring) fresh(key *sluice.SigningKey) bool {
	return k.now().Before(key.Created.Add(k.rotation))
}

// rotate makes a new key if the newest is too old, and deletes the dead ones.
func (k *keyring) rotate(ctx context.Context) error {
	k.rotating.Lock()
	defer k.rotating.Unlock()
	live, dead := k.sort(k.records.All())
	if len(live) == 0 || !k.fresh(live[0]) {
		if _, err := k.add(ctx, k.fresh); err != nil {
			return err
		}
	}
	for _, record := range dead {
		if err := sluice.Remove(ctx, k.records, record.ID); err != nil {
			return err
		}
		k.mu.Lock()
		delete(k.parsed, record.ID)
		k.mu.Unlock()
	}
	return nil
}

// add stores a new key, unless willDo accepts one that another node may just have made.
func (k *keyring) add(ctx context.Context, willDo func(*sluice.SigningKey) bool) (*sluice.SigningKey, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, err
	}
	mine := &sluice.SigningKey{ID: random(familySize), Private: encoded, Created: k.now().UTC()}
	_, err = k.records.Change(ctx, mine.ID, func(_ *sluice.SigningKey, all map[string]*sluice.SigningKey) (*sluice.SigningKey, error) {
		if slices.ContainsFunc(slices.Collect(maps.Values(all)), willDo) {
			return nil, sluice.ErrUnchanged
		}
		return mine, nil
	})
	if errors.Is(err, sluice.ErrUnchanged) {
		return nil, nil
	}
	return mine, err
}

// parse returns the usable form of a stored key.
func (k *keyring) parse(record *sluice.SigningKey) (*signingKey, error) {
	k.mu.RLock()
	key := k.parsed[record.ID]
	k.mu.RUnlock()
	if key != nil {
		return key, nil
	}
	key, err := newSigningKey(record)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.parsed[record.ID] = key
	return key, nil
}
