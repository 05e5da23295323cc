package oidc

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"strings"

	"sluice"
)

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
	nonce := sluice.RandomBytes(nonceSize)
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
	return ok && len(secret) == secretSize &&
		hmac.Equal(secret[nonceSize:], macOf(s.MACKey, family, secret[:nonceSize]))
}

// isCurrent reports whether a refresh token is the valid one of the session.
func isCurrent(s *sluice.Session, token string) bool {
	return subtle.ConstantTimeCompare([]byte(s.Hash), []byte(sluice.HashSecret(token))) == 1
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
func random(size int) string { return base64.RawURLEncoding.EncodeToString(sluice.RandomBytes(size)) }

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
