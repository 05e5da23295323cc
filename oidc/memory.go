package oidc

import (
	"crypto/sha256"
	"sync"
	"time"
)

// maxRemembered bounds a memory.
const maxRemembered = 10_000

// A fingerprint stands for a secret without giving it away.
type fingerprint [sha256.Size]byte

// A memory holds what was found out about secrets, each until its time is over.
type memory[V any] struct {
	mu    sync.RWMutex
	known map[fingerprint]remembered[V]
}

type remembered[V any] struct {
	value V
	until time.Time
}

func newMemory[V any]() *memory[V] {
	return &memory[V]{known: make(map[fingerprint]remembered[V])}
}

func (m *memory[V]) get(id fingerprint, now time.Time) (value V, ok bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	r, ok := m.known[id]
	if !ok || !now.Before(r.until) {
		return value, false
	}
	return r.value, true
}

func (m *memory[V]) put(id fingerprint, value V, until, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.known) >= maxRemembered {
		m.forget(now)
	}
	m.known[id] = remembered[V]{value, until}
}

func (m *memory[V]) drop(id fingerprint) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.known, id)
}

// forget makes room: it drops what is over, and then any until a quarter is
// free, so that a full memory isn't searched at every put.
func (m *memory[V]) forget(now time.Time) {
	for id, r := range m.known {
		if !now.Before(r.until) {
			delete(m.known, id)
		}
	}
	for id := range m.known {
		if len(m.known) <= maxRemembered*3/4 {
			return
		}
		delete(m.known, id)
	}
}
