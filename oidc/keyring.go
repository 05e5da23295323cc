package oidc

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"sluice"
)

// A keyring holds the keys that sign tokens. All nodes share them.
type keyring struct {
	records  sluice.Records[sluice.SigningKey]
	rotation time.Duration // how long a key signs
	grace    time.Duration // how long its tokens may outlive that
	now      func() time.Time

	rotating sync.Mutex
}

// signing returns the key to sign with, a new one if it is time.
func (k *keyring) signing(ctx context.Context) (*signingKey, error) {
	live, dead := k.sort(k.records.All())
	if len(live) == 0 || !k.fresh(live[0]) || len(dead) > 0 {
		if err := k.rotate(ctx); err != nil {
			return nil, err
		}
		live, _ = k.sort(k.records.All())
	}
	if len(live) == 0 {
		return nil, errors.New("the new signing key is gone")
	}
	return parseKey(live[0])
}

// published returns the public halves of the keys whose tokens may be valid, the newest first.
func (k *keyring) published(ctx context.Context) (set jose.JSONWebKeySet, _ error) {
	if _, err := k.signing(ctx); err != nil {
		return set, err
	}
	live, _ := k.sort(k.records.All())
	for _, record := range live {
		key, err := parseKey(record)
		if err != nil {
			return set, err
		}
		set.Keys = append(set.Keys, key.jwk())
	}
	return set, nil
}

// find returns the key with that id. A caller may have made up the id.
func (k *keyring) find(ctx context.Context, id string) (*sluice.SigningKey, error) {
	if !isRandom(id, familySize) {
		return nil, notAccepted()
	}
	live, dead := k.sort(k.records.All())
	same := func(r *sluice.SigningKey) bool { return r.ID == id }
	if n := slices.IndexFunc(live, same); n >= 0 {
		return live[n], nil
	}
	if slices.ContainsFunc(dead, same) {
		return nil, notAccepted()
	}
	key, err := k.records.Get(ctx, id) // another node may just have made it
	if err == nil && key == nil {
		err = notAccepted()
	}
	return key, err
}

// sort puts the newest key first. dead are the keys whose successor is so old that none of
// their tokens is valid any more.
func (k *keyring) sort(records []*sluice.SigningKey) (live, dead []*sluice.SigningKey) {
	slices.SortFunc(records, func(a, b *sluice.SigningKey) int { return b.Created.Compare(a.Created) })
	for n := 1; n < len(records); n++ {
		if records[n-1].Created.Add(k.grace).Before(k.now()) {
			return records[:n], records[n:]
		}
	}
	return records, nil
}

// fresh reports whether a key is young enough to sign.
func (k *keyring) fresh(key *sluice.SigningKey) bool {
	return k.now().Before(key.Created.Add(k.rotation))
}

// rotate makes a new key if the newest is too old, and deletes the dead ones.
func (k *keyring) rotate(ctx context.Context) error {
	k.rotating.Lock()
	defer k.rotating.Unlock()
	live, dead := k.sort(k.records.All())
	if len(live) == 0 || !k.fresh(live[0]) {
		if _, err := k.add(ctx, k.fresh); err != nil {
			return err
		}
	}
	for _, record := range dead {
		if err := sluice.Remove(ctx, k.records, record.ID); err != nil {
			return err
		}
	}
	return nil
}

// add stores a new key, unless willDo accepts one that another node may just have made.
func (k *keyring) add(ctx context.Context, willDo func(*sluice.SigningKey) bool) (*sluice.SigningKey, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, err
	}
	mine := &sluice.SigningKey{ID: random(familySize), Private: encoded, Created: k.now().UTC()}
	_, err = k.records.Change(ctx, mine.ID,
		func(_ *sluice.SigningKey, all map[string]*sluice.SigningKey) (*sluice.SigningKey, error) {
			if slices.ContainsFunc(slices.Collect(maps.Values(all)), willDo) {
				return nil, sluice.ErrUnchanged
			}
			return mine, nil
		})
	if errors.Is(err, sluice.ErrUnchanged) {
		return nil, nil
	}
	return mine, err
}
