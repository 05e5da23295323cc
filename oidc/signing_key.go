package oidc

import (
	"crypto/ecdsa"
	"crypto/x509"
	"fmt"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"sluice"
)

// The types of our JWTs: an ID token must not pass for an access token.
const (
	accessType = "at+jwt" // RFC 9068
	idType     = "JWT"
)

// A signingKey makes tokens.
type signingKey struct {
	id      string
	private *ecdsa.PrivateKey
}

// parseKey returns the usable form of a stored key.
func parseKey(record *sluice.SigningKey) (*signingKey, error) {
	parsed, err := x509.ParsePKCS8PrivateKey(record.Private)
	if err != nil {
		return nil, fmt.Errorf("signing key %s: %w", record.ID, err)
	}
	private, ok := parsed.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("signing key %s is a %T", record.ID, parsed)
	}
	return &signingKey{record.ID, private}, nil
}

// sign makes a token of a type.
func (k *signingKey) sign(c claims, kind jose.ContentType) (string, error) {
	key := jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: k.private, KeyID: k.id}}
	signer, err := jose.NewSigner(key, new(jose.SignerOptions).WithType(kind))
	if err != nil {
		return "", err
	}
	return jwt.Signed(signer).Claims(c).Serialize()
}

// jwk returns the public half.
func (k *signingKey) jwk() jose.JSONWebKey {
	return jose.JSONWebKey{Key: &k.private.PublicKey, KeyID: k.id, Algorithm: string(jose.ES256), Use: "sig"}
}
