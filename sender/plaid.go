package sender

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"sluice/value"
)

func plaid() Preset {
	return Preset{
		Name: "plaid", Title: "Plaid",
		Checks: "Plaid-Verification: a JWT (ES256) with the SHA-256 of the body, by a key that Plaid gives to its clients; at most 5 minutes old",
		Secret: "your client id and secret at Plaid with a colon between them; `sandbox:` before them for the sandbox",
		Dedupe: "off", Retries: "24h",
		Setup: [3]string{
			"At dashboard.plaid.com, Developers, Keys: enter `client_id:secret` as the `signingSecret`, or `sandbox:client_id:secret` with those of the sandbox. Plaid's keys are fetched with them.",
			"Webhooks are set where an Item is made: `webhook` of /link/token/create is the webhook's URL; /item/webhook/update changes it.",
			"Calls have no id, so repeated ones are not recognised; each signature is good for 5 minutes.",
		},
		checker: func(secret string, keys Keys) (checker, error) {
			check, err := byJWT(Scheme{Header: "Plaid-Verification", BodyHash: "request_body_sha256"}, true)(secret, keys)
			if j, ok := check.(*jwtCheck); ok {
				j.ring = &keyring{ask: func(ctx context.Context, id string) (any, error) { return plaidKey(ctx, keys, secret, id) }}
			}
			return check, err
		},
	}
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
	content, err := keys.Get(ctx, "https://"+host+".plaid.com/webhook_verification_key/get#"+string(asked), publishedMaxAge)
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
