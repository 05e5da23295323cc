package sender

import (
	"context"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// A keyring has the key of a sender, or those that it publishes.
type keyring struct {
	fixed   any    // bytes that are shared, or a public key; nil: published ones
	address string // of a JWKS

	// gets a published key by its id; nil: they are at the address
	ask func(ctx context.Context, id string) (any, error)

	keys Keys
	read atomic.Pointer[keySet] // the latest
}

// A keySet is a JWKS, and the text that it was read from.
type keySet struct {
	jose.JSONWebKeySet

	text []byte
}

// checkKeysAddress refuses what can't be the address of published keys.
func checkKeysAddress(address string) error {
	u, err := url.Parse(address)
	if address != "" && (err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.Fragment != "" ||
		len(address) > 2<<10) {
		return fieldError("keys", "must be the https:// URL of the sender's JWKS")
	}
	return nil
}

// newKeyring returns the keyring of an address, or of a secret: a public key, or else a text
// that is shared.
func newKeyring(address, secret string, keys Keys) (*keyring, error) {
	if address != "" {
		return &keyring{address: address, keys: keys}, nil
	}
	if public := parsePublic(secret); public != nil {
		if key, ok := public.(*rsa.PublicKey); ok && !isSafe(key) {
			return nil, secretError("An RSA public key must have 1024 to 8192 bits.")
		}
		return &keyring{fixed: public}, nil
	}
	// Whoever takes a key in another form for a shared text lets everyone sign who has the public key.
	if text := strings.TrimSpace(secret); strings.HasPrefix(text, "-----BEGIN") || strings.HasPrefix(text, "{") {
		return nil, secretError("The signing secret must be a public key in PEM, or the text that is shared with the " +
			"sender.")
	}
	shared, err := writtenKey(secret)
	return &keyring{fixed: shared}, err
}

// CheckKind refuses secrets of a webhook's own scheme if that goes by shared texts as well as by
// public keys, and a secret may be either: whoever has the public key could sign with it. Such
// secrets that are stored already still count.
func (v *Verifier) CheckKind() error {
	if r := v.preset.Signature; v.preset.Name != "" || r == nil ||
		r.Algorithm != webToken && r.Algorithm != messageSignature {
		return nil
	}
	for _, secret := range v.secrets {
		if parsePublic(secret) == nil && mayBePublic(strings.TrimSpace(secret)) {
			return secretError("The signing secret may be a public key in another form than PEM. " +
				"Give a public key in PEM; put text:, base64: or hex: before a secret that is shared with the sender.")
		}
	}
	return nil
}

// publicPrefix begins a key in PEM, a JWK or several, and one as OpenSSH or Standard Webhooks write it.
var publicPrefix = regexp.MustCompile(`^(-----BEGIN|[{[]\s*["{]|ssh-|ecdsa-|whpk_)`)

// mayBePublic reports whether a text may be a public key: one as OpenSSH writes it, a JWK, PEM, DER, or
// the 32 bytes of a key on a curve, in any encoding.
func mayBePublic(text string) bool {
	if publicPrefix.MatchString(text) {
		return true
	}
	text = strings.Join(strings.Fields(text), "")
	unpadded := strings.TrimRight(text, "=")
	for _, read := range []func() ([]byte, error){
		func() ([]byte, error) {
			return hex.DecodeString(strings.TrimPrefix(strings.ReplaceAll(text, ":", ""), "0x"))
		},
		func() ([]byte, error) { return base64.RawStdEncoding.DecodeString(unpadded) },
		func() ([]byte, error) { return base64.RawURLEncoding.DecodeString(unpadded) },
	} {
		raw, err := read()
		if err != nil || len(raw) < ed25519.PublicKeySize {
			continue
		}
		const sequence, point, pointSize = 0x30, 0x04, 65
		if len(raw) == ed25519.PublicKeySize || raw[0] == sequence || raw[0] == point && len(raw) == pointSize ||
			publicPrefix.Match(raw) || publicPrefix.Match(raw[4:]) { // OpenSSH writes the length before
			return true
		}
	}
	return false
}

// Ages of published keys.
const (
	publishedMaxAge = time.Hour
	publishedRetry  = 10 * time.Second // between fetches that made-up key ids cause
)

// find returns the key with that id, for an algorithm. An unknown id may be that of a new
// key. An id is not needed where there is only one key.
func (r *keyring) find(ctx context.Context, id, algorithm string) (any, error) {
	if r.fixed != nil {
		return r.fixed, nil
	}
	if r.ask != nil {
		return r.ask(ctx, id)
	}
	for _, maxAge := range []time.Duration{publishedMaxAge, publishedRetry} {
		text, err := r.keys.Get(ctx, r.address, maxAge)
		if err != nil {
			return nil, err
		}
		set, err := r.parse(text)
		if err != nil {
			return nil, invalid("The keys of the sender can't be read: what is at their address is no JWKS.")
		}
		found := set.Key(id)
		if id == "" {
			found = set.Keys
		}
		if len(found) == 1 && found[0].IsPublic() && found[0].Use != "enc" &&
			(found[0].Algorithm == "" || algorithm == "" || found[0].Algorithm == algorithm) {
			return found[0].Key, nil
		}
	}
	return nil, invalid("The call is signed by a key that the sender does not publish.")
}

func (r *keyring) parse(text []byte) (*keySet, error) {
	if known := r.read.Load(); known != nil && len(text) > 0 && len(known.text) == len(text) &&
		&known.text[0] == &text[0] {
		return known, nil // keys are fetched once, and kept
	}
	set := &keySet{text: text}
	if err := json.Unmarshal(text, &set.JSONWebKeySet); err != nil {
		return nil, err
	}
	r.read.Store(set)
	return set, nil
}
