package oidc

import (
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"time"

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

func (k *signingKey) idToken(c claims) (string, error) {
	return jwt.Signed(k.idTokenSigner).Claims(c).Serialize()
}

// jwk returns the public half.
func (k *signingKey) jwk() jose.JSONWebKey {
	return jose.JSONWebKey{Key: k.public, KeyID: k.id, Algorithm: string(jose.ES256), Use: "sig"}
}

// The values of the claim typ, as Keycloak writes them: other receivers of our
// tokens distinguish them by it.
const (
	accessClaim = "Bearer"
	idClaim     = "ID"
)

// claims are what our tokens say.
type claims struct {
	jwt.Claims

	Type            string   `json:"typ,omitempty"`
	ClientID        string   `json:"client_id,omitempty"`
	AuthorizedParty string   `json:"azp,omitempty"`
	Grant           string   `json:"gty,omitempty"` // client_credentials: the subject is a client
	Generation      string   `json:"client_generation,omitempty"`
	Session         string   `json:"sid,omitempty"`
	Scope           string   `json:"scope,omitempty"`
	Username        string   `json:"preferred_username,omitempty"`
	Roles           []string `json:"roles,omitempty"`
	AuthTime        int64    `json:"auth_time,omitempty"`
	Nonce           string   `json:"nonce,omitempty"`
	AccessHash      string   `json:"at_hash,omitempty"`
}

func (i *Issuer) accessClaims(client *sluice.Client, is issue, now, expires time.Time) claims {
	c := claims{
		Claims:          i.registered(is, ownAudience, now, expires),
		Type:            accessClaim,
		ClientID:        client.ID,
		AuthorizedParty: client.ID,
		Scope:           is.scope,
		Username:        is.user,
		Roles:           is.roles,
	}
	if is.client {
		c.Grant, c.Generation = "client_credentials", client.Generation()
	}
	if is.session != nil {
		c.Session = is.session.ID
	}
	return c
}

func (i *Issuer) idClaims(client *sluice.Client, is issue, now, expires time.Time) claims {
	c := claims{
		Claims:          i.registered(is, client.ID, now, expires),
		Type:            idClaim,
		AuthorizedParty: client.ID,
		Session:         is.session.ID, // for a logout
		AuthTime:        is.session.Created.Unix(),
		Nonce:           is.nonce,
	}
	if !is.session.SignedIn.IsZero() {
		c.AuthTime = is.session.SignedIn.Unix()
	}
	if hasScope(is.scope, "profile") {
		c.Username = is.user
	}
	return c
}

// accessHash ties an ID token to the access token beside it (OpenID Connect
// Core, 3.1.3.6).
func accessHash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return base64.RawURLEncoding.EncodeToString(sum[:len(sum)/2])
}

func (i *Issuer) registered(is issue, audience string, now, expires time.Time) jwt.Claims {
	return jwt.Claims{
		Issuer:    i.url,
		Subject:   is.user,
		Audience:  jwt.Audience{audience},
		Expiry:    jwt.NewNumericDate(expires),
		NotBefore: jwt.NewNumericDate(now),
		IssuedAt:  jwt.NewNumericDate(now),
		ID:        random(familySize),
	}
}
