package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"sluice/outward"
)

const (
	keysMaxAge   = 15 * time.Minute // after which a withdrawn key is no longer accepted
	keysCoolDown = 10 * time.Second // between fetches that tokens with made-up key ids cause
)

// algorithms are those that a provider's keys may be for. All are asymmetric, so that
// nobody can sign with a published key.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512,
	jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// A keySet holds the keys that a provider publishes. Old ones are better than none.
type keySet struct {
	address   string
	published *outward.Published[[]jose.JSONWebKey]
}

// want makes sure that the key with that id is here, if the provider has it. It fails
// only if the key is not here and the provider can't be asked now: then nobody knows
// whether there is such a key.
func (k *keySet) want(ctx context.Context, id string) error {
	keys, age, _ := k.published.Last(k.address)
	known := contains(keys, id)
	if known && age < keysMaxAge {
		return nil
	}
	_, err := k.published.Get(ctx, k.address, -1)
	if err == nil || known || k.has(id) {
		return nil
	}
	if often, ok := errors.AsType[outward.TooOftenError](err); ok {
		return unreachable(err).After(often.Wait)
	}
	return unreachable(err)
}

// has reports whether the provider publishes a key, as far as is known.
func (k *keySet) has(id string) bool {
	keys, _, _ := k.published.Last(k.address)
	return contains(keys, id)
}

func contains(keys []jose.JSONWebKey, id string) bool {
	return slices.ContainsFunc(keys, func(key jose.JSONWebKey) bool { return id == "" || key.KeyID == id })
}

// open reads the claims of a token, if a key that is here has signed it.
func (k *keySet) open(token *jwt.JSONWebToken, claims ...any) error {
	header := token.Headers[0]
	keys, _, _ := k.published.Last(k.address)
	for _, key := range keys {
		if header.KeyID != "" && key.KeyID != header.KeyID || key.Algorithm != "" && key.Algorithm != header.Algorithm {
			continue
		}
		if token.Claims(key.Key, claims...) == nil {
			return nil
		}
	}
	return errors.New("no key of the provider verifies the token")
}

// parseKeySet reads a JWKS. Keys that are of no use here are left out, so that
// one new kind of key doesn't make the others unusable.
func parseKeySet(content []byte) (keys []jose.JSONWebKey, err error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(content, &set); err != nil {
		return nil, err
	}
	for _, encoded := range set.Keys {
		var key jose.JSONWebKey
		if err := json.Unmarshal(encoded, &key); err == nil && key.IsPublic() && key.Use != "enc" {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("the provider publishes no key that can be used")
	}
	return keys, nil
}
