package oidc

import (
	"context"
	"crypto/sha256"
	"errors"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"sluice"
)

// errTooLong is the fault of a token that we can't have made.
var errTooLong = errors.New("the token is valid for longer than tokens are here")

// verified is an access token whose signature and claims were right.
type verified struct {
	claims
	key string // that signed it
}

// Access checks an access token. Whether its user may still do anything is for
// the caller to look up; a token whose session was ended is refused here.
func (i *Issuer) Access(ctx context.Context, token string) (id sluice.Identity, _ error) {
	v, err := i.verify(ctx, token)
	if err != nil {
		return id, err
	}
	return sluice.Identity{
		Username:   v.Subject,
		ClientID:   v.ClientID,
		Client:     v.isClient(),
		Generation: v.Generation,
		Issued:     v.IssuedAt.Time(),
		Scope:      v.Scope,
		Expires:    v.Expiry.Time(),
	}, nil
}

func (v *verified) isClient() bool { return v.Grant == "client_credentials" }

// verify checks an access token. A token that passed is remembered, so that it
// costs one signature check however often it is used; key and session are
// looked at every time.
func (i *Issuer) verify(ctx context.Context, token string) (*verified, error) {
	if len(token) > maxToken {
		return nil, notAccepted()
	}
	id := fingerprint(sha256.Sum256([]byte(token)))
	v, known := i.verified.Get(id, i.now())
	var err error
	if !known {
		v, err = i.checkToken(ctx, token)
	} else {
		_, err = i.keys.find(ctx, v.key)
	}
	if err == nil {
		err = i.checkSession(ctx, v)
	}
	switch {
	case err == nil && !known:
		i.verified.Put(id, v, v.Expiry.Time())
	case err != nil && known:
		i.verified.Drop(id)
	}
	return v, err
}

// checkSession refuses tokens of a login that has ended. Tokens of clients have
// no session, those of users always.
func (i *Issuer) checkSession(ctx context.Context, v *verified) error {
	if v.isClient() {
		return nil
	}
	session, err := i.sessions.get(ctx, v.Session)
	if err == nil && session == nil {
		return notAccepted()
	}
	return err
}

// checkToken checks signature and claims. The leeway is for a node whose clock
// is behind the one that issued the token: an expired token is refused at once.
func (i *Issuer) checkToken(ctx context.Context, token string) (*verified, error) {
	v, err := i.open(ctx, token, accessType)
	if err != nil {
		return nil, err
	}
	if v.Expiry == nil || v.NotBefore == nil || v.IssuedAt == nil || v.Subject == "" {
		return nil, notAccepted()
	}
	expected := jwt.Expected{Issuer: i.url, AnyAudience: jwt.Audience{ownAudience}, Time: i.now()}
	if err := v.ValidateWithLeeway(expected, leeway); err != nil {
		return nil, notAccepted().Because(err)
	}
	if !i.now().Before(v.Expiry.Time()) {
		return nil, notAccepted().Because(jwt.ErrExpired)
	}
	if v.Expiry.Time().Sub(v.IssuedAt.Time()) >= i.AccessTTL+time.Second { // times in tokens are whole seconds
		return nil, notAccepted().Because(errTooLong)
	}
	return v, nil
}

// open checks the signature of a token of ours that has the given type. Only
// alg, kid and typ of the header count: a key that the token brings along, or
// says where to find, is ignored.
func (i *Issuer) open(ctx context.Context, token, kind string) (*verified, error) {
	parsed, err := parseJWT(token, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		return nil, notAccepted().Because(err)
	}
	header := parsed.Headers[0]
	if header.ExtraHeaders[jose.HeaderType] != kind {
		return nil, notAccepted()
	}
	record, err := i.keys.find(ctx, header.KeyID)
	if err != nil {
		return nil, err
	}
	key, err := parseKey(record)
	if err != nil {
		return nil, err
	}
	v := &verified{key: key.id}
	if err := parsed.Claims(&key.private.PublicKey, &v.claims); err != nil {
		return nil, notAccepted().Because(err)
	}
	return v, nil
}

// parseJWT reads a signed JWT. Its parts must be encoded in the one canonical
// way: otherwise the owner of a token could write others that mean the same.
func parseJWT(token string, algorithms []jose.SignatureAlgorithm) (*jwt.JSONWebToken, error) {
	for part := range strings.SplitSeq(token, ".") {
		if _, ok := decodeCanonical(part); !ok {
			return nil, errors.New("a part of the token is not in canonical base64")
		}
	}
	return jwt.ParseSigned(token, algorithms)
}

// notAccepted is the same for every fault of a token.
func notAccepted() *sluice.Error {
	return invalidToken("The access token is not valid here, or has expired. Get a new one.")
}
