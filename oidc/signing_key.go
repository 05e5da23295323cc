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
	id            string
	public        *ecdsa.PublicKey
	accessSigner  jose.Signer
	idTokenSigner jose.Signer
}

func newSigningKey(record *sluice.SigningKey) (*signingKey, error) {
	parsed, err := x509.ParsePKCS8PrivateKey(record.Private)
	if err != nil {
		return nil, fmt.Errorf("signing key %s: %w", record.ID, err)
	}
	private, ok := parsed.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("signing key %s is a %T", record.ID, parsed)
	}
	key := &signingKey{id: record.ID, public: &private.PublicKey}
	signing := jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: private, KeyID: record.ID}}
	if key.accessSigner, err = jose.NewSigner(signing, new(jose.SignerOptions).WithType(accessType)); err != nil {
		return nil, err
	}
	key.idTokenSigner, err = jose.NewSigner(signing, new(jose.SignerOptions).WithType(idType))
	return key, err
}

func (k *signingKey) access(c claims) (string, error) {
	return jwt.Signed(k.accessSigner).Claims(c).Serialize()
}

// jwk returns the public half.
func (k *signingKey) jwk() jose.JSONWebKey {
	return jose.JSONWebKey{Key: k.public, KeyID: k.id, Algorithm: string(jose.ES256), Use: "sig"}
}
