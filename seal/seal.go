// Package seal makes stored values unreadable for anyone who has the files but not the key.
// It encrypts values, and makes keyed hashes to find tokens without storing them.
//
// It knows a key and names, not what they stand for. The key is the operator's, or one that
// package serve makes in the data folder.
package seal

import (
	"bytes"
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
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/crypto/chacha20poly1305"

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
	return nil, sluice.CodeSecretKeyInvalid.Errorf(
		"The key of secrets must be %d random bytes in base64 or hex; openssl rand -base64 %d makes one.", KeySize,
		KeySize)
}

// NewKey makes a random key, in base64.
func NewKey() string {
	return base64.StdEncoding.EncodeToString(sluice.RandomBytes(KeySize))
}

// A sealed message begins with its mark, which no JSON begins with, and the print of its key.
// The nonce and the text follow.
const (
	mark       = "\x00s1"
	printSize  = 4
	headerSize = len(mark) + printSize + chacha20poly1305.NonceSizeX

	// Overhead is how much longer a message is once it is sealed.
	Overhead = headerSize + chacha20poly1305.Overhead
)

// Messages seals any number of messages (XChaCha20-Poly1305: its random nonces are long enough
// for that, those of a Box are not). It opens those of earlier keys as well, and those that
// were never sealed.
type Messages struct {
	keys atomic.Pointer[[]messageKey] // the first one seals
}

type messageKey struct {
	print [printSize]byte
	aead  cipher.AEAD
}

// NewMessages seals with a key of KeySize bytes.
func NewMessages(key []byte) (*Messages, error) {
	m := new(Messages)
	m.keys.Store(new([]messageKey))
	return m, m.Learn(key)
}

// Learn lets messages of an earlier key be opened.
func (m *Messages) Learn(key []byte) error {
	aead, err := chacha20poly1305.NewX(key)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(append([]byte("sluice: print of a key"), key...))
	fresh, known := messageKey{[printSize]byte(sum[:]), aead}, *m.keys.Load()
	if !slices.ContainsFunc(known, func(k messageKey) bool { return k.print == fresh.print }) {
		known = append(slices.Clone(known), fresh)
		m.keys.Store(&known)
	}
	return nil
}

// Derive returns a key for something that has no place to keep one of its own.
func (b *Box) Derive(purpose string) ([]byte, error) {
	return hkdf.Expand(sha256.New, b.hashKey, "sluice: "+purpose, KeySize)
}

// Seal appends a message, sealed for a name, to some space.
func (m *Messages) Seal(space []byte, name string, message []byte) []byte {
	key := (*m.keys.Load())[0]
	space = slices.Grow(space, Overhead+len(message))
	space = append(append(space, mark...), key.print[:]...)
	nonce := space[len(space) : len(space)+chacha20poly1305.NonceSizeX]
	_, _ = rand.Read(nonce) // never fails
	return key.aead.Seal(space[:len(space)+len(nonce)], nonce, message, []byte(name))
}

// Open returns a message that was sealed for a name, or ErrOtherKey. One that is not sealed
// stays as it is.
func (m *Messages) Open(name string, message []byte) ([]byte, error) {
	if !bytes.HasPrefix(message, []byte(mark)) {
		return message, nil
	}
	if len(message) < Overhead {
		return nil, ErrOtherKey
	}
	of, nonce := message[len(mark):len(mark)+printSize], message[len(mark)+printSize:headerSize]
	for _, key := range *m.keys.Load() {
		if bytes.Equal(of, key.print[:]) {
			if opened, err := key.aead.Open(nil, nonce, message[headerSize:], []byte(name)); err == nil {
				return opened, nil
			}
		}
	}
	return nil, ErrOtherKey
}
