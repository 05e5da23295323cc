package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"golang.org/x/sync/singleflight"
	"golang.org/x/time/rate"
)

const (
	keysMaxAge   = 15 * time.Minute // after which a withdrawn key is no longer accepted
	keysCoolDown = 10 * time.Second // between fetches that tokens with made-up key ids cause
	keysBurst    = 3
	maxKeySet    = 1 << 20
)

// algorithms are those that a provider's keys may be for. All are asymmetric, so that
// nobody can sign with a published key.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512,
	jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

func algorithmNames() []string {
	names := make([]string, 0, len(algorithms))
	for _, a := range algorithms {
		names = append(names, string(a))
	}
	return names
}

// A keySet holds the keys that a provider publishes.
type keySet struct {
	url    string
	client *http.Client
	now    func() time.Time
	limit  *rate.Limiter

	fetching singleflight.Group
	mu       sync.RWMutex
	keys     []jose.JSONWebKey
	fetched  time.Time
}

// want makes sure that the key with that id is here, if the provider has it. It fails
// only if the key is not here and the provider can't be asked now: then nobody knows
// whether there is such a key.
func (k *keySet) want(ctx context.Context, id string) error {
	known, old := k.state(id)
	if known && !old {
		return nil
	}
	if known && k.limit.TokensAt(k.now()) < 1 {
		return nil // old keys are better than none, and than waiting
	}
	_, err := share(ctx, &k.fetching, "", func(ctx context.Context) (any, error) { return nil, k.fetch(ctx) })
	if k.has(id) {
		return nil
	}
	return err
}

func (k *keySet) state(id string) (known, old bool) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	known = slices.ContainsFunc(k.keys, func(key jose.JSONWebKey) bool { return id == "" || key.KeyID == id })
	return known, !k.now().Before(k.fetched.Add(keysMaxAge))
}

// has reports whether the provider publishes a key, as far as is known.
func (k *keySet) has(id string) bool {
	known, _ := k.state(id)
	return known
}

// VerifySignature implements the KeySet of go-oidc with the keys that are here.
func (k *keySet) VerifySignature(_ context.Context, token string) ([]byte, error) {
	signed, err := jose.ParseSignedCompact(token, algorithms)
	if err != nil {
		return nil, err
	}
	header := signed.Signatures[0].Protected
	k.mu.RLock()
	keys := k.keys
	k.mu.RUnlock()
	for _, key := range keys {
		if header.KeyID != "" && key.KeyID != header.KeyID || key.Algorithm != "" && key.Algorithm != header.Algorithm {
			continue
		}
		if payload, err := signed.Verify(key.Key); err == nil {
			return payload, nil
		}
	}
	return nil, errors.New("no key of the provider verifies the token")
}

// fetch replaces the keys by those that the provider publishes now. If that
// fails, or comes too soon after other fetches, they stay.
func (k *keySet) fetch(ctx context.Context) error {
	now := k.now()
	turn := k.limit.ReserveN(now, 1)
	if wait := turn.DelayFrom(now); wait > 0 {
		turn.CancelAt(now)
		return unreachable(errors.New("the provider's keys were asked for too often")).After(wait)
	}
	keys, err := k.download(ctx)
	if err != nil {
		return unreachable(err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.keys, k.fetched = keys, k.now()
	return nil
}

func (k *keySet) download(ctx context.Context) ([]jose.JSONWebKey, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, k.url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := k.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(io.LimitReader(resp.Body, maxKeySet))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the provider's keys: %s", resp.Status)
	}
	return parseKeySet(content)
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
