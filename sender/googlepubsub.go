package sender

import (
	"context"
	"crypto/subtle"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

func newPubSub(secret string, keys Keys) (checker, error) {
	return pubsubCheck{secret, &keyring{address: googleKeys, keys: keys}}, nil
}

const (
	googleKeys   = "https://www.googleapis.com/oauth2/v3/certs"
	googleLeeway = time.Minute
)

type pubsubCheck struct {
	account string // "" means any
	ring    *keyring
}

type pubsubClaims struct {
	jwt.Claims

	Email    string `json:"email"`
	Verified bool   `json:"email_verified"`
}

func (p pubsubCheck) check(ctx context.Context, c *Call, now time.Time) error {
	value, err := c.header("Authorization")
	if err != nil {
		return err
	}
	word, text, _ := strings.Cut(value, " ")
	token, err := jwt.ParseSigned(text, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil || !strings.EqualFold(word, "Bearer") || len(token.Headers) != 1 {
		return invalid("The header Authorization has no token of Google.")
	}
	key, err := p.ring.find(ctx, token.Headers[0].KeyID, token.Headers[0].Algorithm)
	if err != nil {
		return err
	}
	var claims pubsubClaims
	if err := token.Claims(key, &claims); err != nil {
		return invalid("The token is not signed by Google.")
	}
	return p.checkClaims(claims, c.URL, now)
}

// checkClaims checks what a token of Google says.
func (p pubsubCheck) checkClaims(claims pubsubClaims, address string, now time.Time) error {
	switch {
	case claims.Issuer != "https://accounts.google.com" && claims.Issuer != "accounts.google.com":
		return invalid("The token is of another issuer.")
	case !slices.Contains(claims.Audience, address):
		return invalid("The token is for another audience than this webhook's public URL.")
	case !claims.Verified || !strings.HasSuffix(claims.Email, ".gserviceaccount.com"):
		return invalid("The token is not that of a service account.")
	case p.account != "" && subtle.ConstantTimeCompare([]byte(claims.Email), []byte(p.account)) != 1:
		return invalid("The token is that of another service account than the one that is set as the signing secret.")
	case claims.Expiry == nil || claims.IssuedAt == nil:
		return invalid("The token has no time.")
	case now.After(claims.Expiry.Time().Add(googleLeeway)):
		return expired("The token expired %s ago.", round(now.Sub(claims.Expiry.Time())))
	case now.Before(claims.IssuedAt.Time().Add(-googleLeeway)):
		return expired("The token is %s in the future.", round(claims.IssuedAt.Time().Sub(now)))
	}
	return nil
}

func (pubsubCheck) sign(*Call, time.Time) error { return notSignable() }
