// Package seal makes stored values unreadable for anyone who has the files but not the key.
// It encrypts values, and makes keyed hashes to find tokens without storing them.
//
// It knows a key and names, not what they stand for. The key is the operator's, or one that
// package serve makes in the data folder.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"sluice"
)

// KeySize is the length of a key in bytes.
const KeySize = 32

// ErrOtherKey means that a value was sealed with another key or for another name, or changed
// since.
var ErrOtherKey = errors.New("sealed with another key or changed since")

// A Box seals values with a key.
type Box struct {
	aead    cipher.AEAD
	hashKey []byte
}

// New returns a box for a key of KeySize bytes.
func New(key []byte) (*Box, error) {
	if len(key) != KeySize {
		return nil, fmt.Errorf("the key of secrets must have %d bytes, not %d", KeySize, len(key))
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	hashKey, err := hkdf.Key(sha256.New, key, nil, "sluice: hashes of tokens", sha256.Size)
	if err != nil {
		return nil, err
	}
	return &Box{aead, hashKey}, nil
}

// Seal encrypts a value (AES-256-GCM) for a name. It opens only for that name.
func (b *Box) Seal(name string, value []byte) []byte {
	return b.aead.Seal(nil, nil, value, []byte(name)) //nolint:gosec // no nonce given: it makes a random one
}

// Open returns what was sealed for a name, or ErrOtherKey.
func (b *Box) Open(name string, sealed []byte) ([]byte, error) {
	value, err := b.aead.Open(nil, nil, sealed, []byte(name))
	if err != nil {
		return nil, ErrOtherKey
	}
	return value, nil
}

// Hash returns a keyed hash of a token (HMAC-SHA-256), to find it by.
func (b *Box) Hash(token string) [sha256.Size]byte {
	mac := hmac.New(sha256.New, b.hashKey)
	mac.Write([]byte(token))
	return [sha256.Size]byte(mac.Sum(nil))
}

// ParseKey reads a key of KeySize bytes in hex, or in base64 of either alphabet, with or
// without padding. It rejects passphrases: anyone with the sealed values could guess them.
func ParseKey(text string) ([]byte, error) {
	text = strings.TrimSpace(text)
	if key, err := hex.DecodeString(text); err == nil && len(key) == KeySize {
		return key, nil
	}
	digits := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
	if key, err := base64.RawStdEncoding.DecodeString(digits); err == nil && len(key) == KeySize {
		return key, nil
	}
	return nil, sluice.Errorf(sluice.CodeSecretKeyInvalid,
		"The key of secrets must be %d random bytes in base64 or hex; openssl rand -base64 %d makes one.", KeySize, KeySize)
}

// NewKey makes a random key, in base64.
func NewKey() string {
	key := make([]byte, KeySize)
	_, _ = rand.Read(key) // never fails
	return base64.StdEncoding.EncodeToString(key)
}
