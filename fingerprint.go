package sluice

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"hash/crc32"
	"time"
)

// SendWindow is how long what a run sends is known: a run has no attempts beyond it.
const SendWindow = 168 * time.Hour

// A Fingerprint tells a repeated call from a new one: a hash of the webhook and of the
// delivery id. What a run sends has one, too. Its JSON is a text of 20 characters.
type Fingerprint struct {
	Key    [12]byte      // of webhook and id
	Digest [3]byte       // of the body: where it differs, so does the body
	Window time.Duration // how long a repetition counts; not part of the JSON
}

// NewFingerprint returns the fingerprint of a call of a webhook.
func NewFingerprint(uuid, id string, body []byte, window time.Duration) *Fingerprint {
	var space [128]byte
	sum := sha256.Sum256(append(append(append(space[:0], uuid...), 0), id...))
	f := &Fingerprint{Key: [12]byte(sum[:]), Window: window}
	// A quick checksum will do: where it is equal, HashBody decides.
	content := crc32.Checksum(body, castagnoli)
	f.Digest = [3]byte{byte(content), byte(content >> 8), byte(content >> 16)}
	return f
}

// HashBody returns the hash of a body by which calls with the same id are compared. Whoever
// sends an id with another body must not pass for the first caller.
func HashBody(body []byte) string {
	sum := sha256.Sum256(body)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// MarshalText implements encoding.TextMarshaler.
func (d *Fingerprint) MarshalText() ([]byte, error) {
	return base64.RawURLEncoding.AppendEncode(nil, append(d.Key[:], d.Digest[:]...)), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Fingerprint) UnmarshalText(text []byte) error {
	data, err := base64.RawURLEncoding.DecodeString(string(text))
	if err != nil || len(data) != len(d.Key)+len(d.Digest) {
		return errors.New("a fingerprint is 20 characters of base64")
	}
	copy(d.Digest[:], data[copy(d.Key[:], data):])
	return nil
}

func (d *Fingerprint) appendJSON(b []byte) []byte {
	b = base64.RawURLEncoding.AppendEncode(append(b, '"'), append(d.Key[:], d.Digest[:]...))
	return append(b, '"')
}
