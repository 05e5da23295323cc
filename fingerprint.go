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

// SetFingerprint gives the event of a call, or of another sender, the hashes by which a repetition is
// found out: of owner and id, and of the body, since whoever sends an id with another body must not
// pass for the first caller. With a secret key nobody can tell by them what was sent, not even one
// of a million card numbers. Webhooks of version 0.2.0 have no key.
func (e *Event) SetFingerprint(key []byte, owner, id string, body []byte, window time.Duration) {
	var space [256]byte
	text := append(append(append(append(space[:0], key...), owner...), 0), id...)
	sum, content := sha256.Sum256(text), sha256.Sum256(body)
	e.Fingerprint = &Fingerprint{Key: [12]byte(sum[:]), Window: window}
	if key == nil {
		quick := crc32.Checksum(body, castagnoli)
		e.Fingerprint.Digest = [3]byte{byte(quick), byte(quick >> 8), byte(quick >> 16)}
	} else {
		content = sha256.Sum256(append(append(space[:0], key...), content[:]...))
		e.Fingerprint.Digest = [3]byte(content[:])
	}
	e.BodyHash = base64.RawURLEncoding.EncodeToString(content[:])
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

// AppendJSON implements value.Appender.
func (d *Fingerprint) AppendJSON(b []byte) []byte {
	b = base64.RawURLEncoding.AppendEncode(append(b, '"'), append(d.Key[:], d.Digest[:]...))
	return append(b, '"')
}
