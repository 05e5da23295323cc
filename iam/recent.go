package iam

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"time"
)

const (
	rememberFor   = 5 * time.Minute
	maxRemembered = 10_000
)

// recent holds credentials that were right a short time ago, so that Basic
// doesn't cost a password hash per call. The key is a keyed hash of name and
// password, which is of no use elsewhere; a changed password hash makes it void.
type recent struct {
	key   []byte
	mu    sync.Mutex
	known map[[sha256.Size]byte]proof
}

type proof struct {
	stored string // the password hash it was checked against
	until  time.Time
}

func newRecent() *recent {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return &recent{key: key, known: make(map[[sha256.Size]byte]proof)}
}

func (r *recent) fingerprint(username, password string) (id [sha256.Size]byte) {
	h := hmac.New(sha256.New, r.key)
	h.Write([]byte(username + ":" + password)) // a name has no colon
	h.Sum(id[:0])
	return id
}

func (r *recent) has(username, password, stored string) bool {
	if stored == "" {
		return false
	}
	id := r.fingerprint(username, password)
	r.mu.Lock()
	defer r.mu.Unlock()
	p, ok := r.known[id]
	return ok && p.stored == stored && time.Now().Before(p.until)
}

func (r *recent) add(username, password, stored string) {
	id := r.fingerprint(username, password)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.known) >= maxRemembered {
		clear(r.known)
	}
	r.known[id] = proof{stored, time.Now().Add(rememberFor)}
}
