package sender

import (
	"crypto/subtle"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4/jwt"
)

const googleKeys = "https://www.googleapis.com/oauth2/v3/certs"

// newPubSub checks a JWT of Google. The secret is the account that it must be of, "" for any.
func newPubSub(secret string, keys Keys) (checker, error) {
	return &jwtCheck{
		header: "Authorization", leeway: tokenLeeway, ring: &keyring{address: googleKeys, keys: keys},
		also: func(c *Call, claims jwt.Claims, all map[string]any) error { return judgePubSub(secret, c, claims, all) },
	}, nil
}

// judgePubSub checks what only tokens of Google say.
func judgePubSub(account string, c *Call, claims jwt.Claims, all map[string]any) error {
	email, _ := all["email"].(string)
	switch {
	case claims.Issuer != "https://accounts.google.com" && claims.Issuer != "accounts.google.com":
		return invalid("The token is of another issuer.")
	case !slices.Contains(claims.Audience, c.URL):
		return invalid("The token is for another audience than this webhook's public URL.")
	case all["email_verified"] != true || !strings.HasSuffix(email, ".gserviceaccount.com"):
		return invalid("The token is not that of a service account.")
	case account != "" && subtle.ConstantTimeCompare([]byte(email), []byte(account)) != 1:
		return invalid("The token is that of another service account than the one that is set as the signing secret.")
	case claims.IssuedAt == nil:
		return invalid("The token has no time.")
	}
	return nil
}
