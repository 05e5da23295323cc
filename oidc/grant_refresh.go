package oidc

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"strings"

	"sluice"
)

// refresh is the grant for a refresh token (RFC 6749, 6). Each token is used once and
// replaced. A second use means that it was stolen, so the session ends (RFC 9700, 4.14).
func (i *Issuer) refresh(ctx context.Context, r *request) (issue, error) {
	user, err := i.userOf(ctx, r.session, deadRefresh())
	if err != nil {
		return issue{}, err
	}
	is := issue{user: r.session.Username, roles: user.Roles}
	is.session, is.refresh, err = i.sessions.rotate(ctx, r.form["refresh_token"])
	switch {
	case err != nil:
		return issue{}, err
	case is.session == nil:
		return issue{}, deadRefresh()
	}
	return is, nil
}

// userOf returns the user of a session. If the user is gone the session ends, since the
// next user of that name must not inherit it.
func (i *Issuer) userOf(ctx context.Context, session *sluice.Session, dead error) (sluice.User, error) {
	user, err := i.Directory.User(ctx, session.Username)
	if err == nil || sluice.AsError(err).Kind != sluice.Unauthenticated {
		return user, err
	}
	if err := i.sessions.end(ctx, session.ID); err != nil {
		return sluice.User{}, err
	}
	return sluice.User{}, dead
}

// refreshScope finds the session of the token, and returns its scope or the
// part of it that is asked for.
func (i *Issuer) refreshScope(ctx context.Context, r *request) (scope string, err error) {
	token := r.form["refresh_token"]
	if token == "" {
		return "", invalidRequest("The parameter refresh_token is missing.")
	}
	if r.session, err = i.sessions.ofFamily(ctx, token); err != nil {
		return "", err
	}
	if r.session == nil || r.session.ClientID != r.client.ID {
		return "", deadRefresh()
	}
	r.login.Username = r.session.Username
	if scope, err = narrowScope(r.session.Scope, r.form["scope"]); err != nil {
		return "", i.sessions.refuse(ctx, token, err)
	}
	return scope, nil
}

func deadRefresh() error {
	return invalidGrant("The refresh token is not valid, was used before, or belongs to another client. Log in again.")
}

// A refresh token is <family>.<secret>. The id of its session is a hash of the family, so
// that access tokens, which show the id, don't reveal the family. The secret is random
// bytes and their HMAC, with a key that the session holds. The session knows the valid
// token by its hash. The HMAC tells earlier tokens, whose use ends the session, from
// made-up ones, whose use must not.
const (
	familySize = 16
	nonceSize  = 32
	macSize    = 16
	secretSize = nonceSize + macSize
)

func newRefresh(family string, key []byte) string {
	nonce := randomBytes(nonceSize)
	return family + "." + base64.RawURLEncoding.EncodeToString(append(nonce, macOf(key, family, nonce)...))
}

func macOf(key []byte, family string, nonce []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(family))
	h.Write(nonce)
	return h.Sum(nil)[:macSize]
}

func wasIssued(s *sluice.Session, token string) bool {
	family, encoded, _ := strings.Cut(token, ".")
	secret, ok := decodeCanonical(encoded)
	return ok && len(secret) == secretSize && hmac.Equal(secret[nonceSize:], macOf(s.MACKey, family, secret[:nonceSize]))
}

// isCurrent reports whether a refresh token is the valid one of the session.
func isCurrent(s *sluice.Session, token string) bool {
	return subtle.ConstantTimeCompare([]byte(s.Hash), []byte(hashRefresh(token))) == 1
}

func hashRefresh(token string) string {
	hash := sha256.Sum256([]byte(token))
	return hex.EncodeToString(hash[:])
}

// parseRefresh returns the id of the session that a refresh token is of.
func parseRefresh(token string) (id string, ok bool) {
	family, secret, _ := strings.Cut(token, ".")
	if !isRandom(family, familySize) || !isRandom(secret, secretSize) {
		return "", false
	}
	return sessionID(family), true
}

func sessionID(family string) string {
	hash := sha256.Sum256([]byte(family))
	return base64.RawURLEncoding.EncodeToString(hash[:familySize])
}

// random returns a text that can't be guessed.
func random(size int) string { return base64.RawURLEncoding.EncodeToString(randomBytes(size)) }

func randomBytes(size int) []byte {
	b := make([]byte, size)
	_, _ = rand.Read(b) // never fails
	return b
}

// isRandom reports whether a text has the form of random's.
func isRandom(s string, size int) bool {
	decoded, ok := decodeCanonical(s)
	return ok && len(decoded) == size
}

// decodeCanonical decodes base64 that is written in the one canonical way: no
// line breaks, and no loose bits at the end.
func decodeCanonical(s string) ([]byte, bool) {
	decoded, err := base64.RawURLEncoding.DecodeString(s)
	return decoded, err == nil && base64.RawURLEncoding.EncodeToString(decoded) == s
}
