package sluice_test

import (
	"strings"
	"testing"
	"time"

	"sluice"
)

// TestFingerprintsTellNothing: with a key, whoever knows the owner, the id and the body can't
// make the hashes of a call, and a change of any of them changes the hashes.
func TestFingerprintsTellNothing(t *testing.T) {
	made := map[string]string{}
	for _, c := range []struct{ key, owner, id, body string }{
		{"", "owner", "id", "pin 1234"}, {"key one", "owner", "id", "pin 1234"}, {"key two", "owner", "id", "pin 1234"},
		{"key one", "other", "id", "pin 12345"}, {"key one", "owner", "di", "pin 4321"},
	} {
		var key []byte
		if c.key != "" {
			key = []byte(c.key)
		}
		var e, again sluice.Event
		e.SetFingerprint(key, c.owner, c.id, []byte(c.body), time.Hour)
		again.SetFingerprint(key, c.owner, c.id, []byte(c.body), time.Hour)
		if *e.Fingerprint != *again.Fingerprint || e.BodyHash != again.BodyHash {
			t.Errorf("%v: a repetition has other hashes", c)
		}
		name := strings.Join([]string{c.key, c.owner, c.id, c.body}, "/")
		for _, hash := range []string{string(e.Fingerprint.Key[:]), string(e.Fingerprint.Digest[:]), e.BodyHash} {
			if before, known := made[hash]; known {
				t.Errorf("%s and %s have a hash in common", before, name)
			}
			made[hash] = name
		}
	}
}
