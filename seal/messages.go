package seal

import (
	"bytes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"slices"
	"sync/atomic"

	"golang.org/x/crypto/chacha20poly1305"
)

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
	known := append(slices.Clone(*m.keys.Load()), messageKey{[printSize]byte(sum[:]), aead})
	m.keys.Store(&known)
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
	print, nonce := message[len(mark):len(mark)+printSize], message[len(mark)+printSize:headerSize]
	for _, key := range *m.keys.Load() {
		if bytes.Equal(print, key.print[:]) {
			if opened, err := key.aead.Open(nil, nonce, message[headerSize:], []byte(name)); err == nil {
				return opened, nil
			}
		}
	}
	return nil, ErrOtherKey
}
