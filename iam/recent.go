package iam

import (
	"crypto/hmac"
	"crypto/sha256"
	"time"

	"sluice/limit"

	"sluice"
)

const (
	rememberFor   = 5 * time.Minute
	maxRemembered = 10_000
)

// recent holds credentials that were right a short time ago, so that Basic doesn't cost a
// password hash per call. It knows them by a keyed hash, which is of no use elsewhere.
// Another password makes them void.
type recent struct {
	key   []byte
	known *limit.Cache[[sha256.Size]byte, string] // the password hash it was checked against
}

func newRecent() *recent {
	return &recent{sluice.RandomBytes(32), limit.NewCache[[sha256.Size]byte, string](maxRemembered)}
}

func (r *recent) fingerprint(username, password string) (id [sha256.Size]byte) {
	h := hmac.New(sha256.New, r.key)
	h.Write([]byte(username + ":" + password)) // a name has no colon
	h.Sum(id[:0])
	return id
}

func (r *recent) has(username, password, stored string) bool {
	known, ok := r.known.Get(r.fingerprint(username, password), time.Now())
	return ok && known == stored
}

func (r *recent) add(username, password, stored string) {
	r.known.Put(r.fingerprint(username, password), stored, time.Now().Add(rememberFor))
}
