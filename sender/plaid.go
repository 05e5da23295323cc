package sender

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"sluice/value"
)

// newPlaid checks a JWT by a key that Plaid gives to its clients.
func newPlaid(secret string, keys Keys) (checker, error) {
	ask := func(ctx context.Context, id string) (any, error) { return plaidKey(ctx, keys, secret, id) }
	_, err := newKeyring("", secret, keys) // a key in place of credentials is refused
	return &jwtCheck{
		rule:   rule{Scheme: Scheme{BodyHash: "request_body_sha256"}, Endless: true},
		header: "Plaid-Verification", leeway: tokenLeeway, ring: &keyring{ask: ask},
	}, err
}

var plaidKeyID = regexp.MustCompile(`^[0-9A-Za-z-]{1,64}$`)

// plaidKey asks Plaid for the key with an id.
func plaidKey(ctx context.Context, keys Keys, credentials, id string) (any, error) {
	host := "production"
	if rest, is := strings.CutPrefix(credentials, "sandbox:"); is {
		host, credentials = "sandbox", rest
	}
	client, secret, ok := strings.Cut(credentials, ":")
	if !ok || !plaidKeyID.MatchString(id) {
		return nil, invalid("The signing secret is not client_id:secret, or the token names no key.")
	}
	asked, err := value.Marshal(map[string]string{"client_id": client, "secret": secret, "key_id": id})
	if err != nil {
		return nil, err
	}
	content, err := keys.Get(ctx, "https://"+host+".plaid.com/webhook_verification_key/get#"+string(asked),
		publishedMaxAge)
	if err != nil {
		return nil, err
	}
	var found struct {
		Key jose.JSONWebKey `json:"key"`
	}
	if json.Unmarshal(content, &found) != nil || !found.Key.IsPublic() {
		return nil, invalid("What Plaid gives is no key.")
	}
	var ended struct {
		Key struct {
			At *int64 `json:"expired_at"`
		} `json:"key"`
	}
	if json.Unmarshal(content, &ended) != nil || ended.Key.At != nil {
		return nil, invalid("The key that the call is signed by is no longer in use.")
	}
	return found.Key.Key, nil
}
