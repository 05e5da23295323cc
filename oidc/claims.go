package oidc

import (
	"crypto/sha256"
	"encoding/base64"

	"github.com/go-jose/go-jose/v4/jwt"
)

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

func (i *Issuer) accessClaims(is issue) claims {
	c := claims{
		Claims:          i.registered(is, ownAudience),
		Type:            accessClaim,
		ClientID:        is.client.ID,
		AuthorizedParty: is.client.ID,
		Scope:           is.scope,
		Username:        is.user,
		Roles:           is.roles,
	}
	if is.session == nil {
		c.Grant, c.Generation = "client_credentials", is.client.Generation()
	} else {
		c.Session = is.session.ID
	}
	return c
}

func (i *Issuer) idClaims(is issue) claims {
	c := claims{
		Claims:          i.registered(is, is.client.ID),
		Type:            idClaim,
		AuthorizedParty: is.client.ID,
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

func (i *Issuer) registered(is issue, audience string) jwt.Claims {
	return jwt.Claims{
		Issuer:    i.url,
		Subject:   is.user,
		Audience:  jwt.Audience{audience},
		Expiry:    jwt.NewNumericDate(is.expires),
		NotBefore: jwt.NewNumericDate(is.now),
		IssuedAt:  jwt.NewNumericDate(is.now),
		ID:        random(familySize),
	}
}
