package outward

import (
	"sync"
	"time"

	"sluice/limit"
)

// Kept keeps connections to servers of others open for those who want the same, and closes what
// nobody has used for a while.
type Kept[T any] struct {
	Open  func(key string) (T, error) // does not wait for the server
	Close func(T)
	Idle  time.Duration // after which a thing is closed
	Most  int           // things that are open

	mu   sync.Mutex
	held map[string]*kept[T]
}

type kept[T any] struct {
	thing T
	users int
	over  *time.Timer // closes it
}

// Take opens the thing of a key, or shares it, until leave is called: limit.ErrNoPlace if too many others
// are in use. A thing that is spoilt is shared with nobody else.
func (k *Kept[T]) Take(key string) (thing T, leave func(spoilt bool), err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	h := k.held[key]
	if h == nil {
		if !k.makeRoom() {
			return thing, nil, limit.ErrNoPlace
		}
		if thing, err = k.Open(key); err != nil {
			return thing, nil, err
		}
		h = &kept[T]{thing: thing}
		h.over = time.AfterFunc(k.Idle, func() { k.end(key, h) })
		if k.held == nil {
			k.held = map[string]*kept[T]{}
		}
		k.held[key] = h
	}
	h.users++
	return h.thing, func(spoilt bool) { k.leave(key, h, spoilt) }, nil
}

func (k *Kept[T]) leave(key string, h *kept[T], spoilt bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	h.users--
	if spoilt && k.held[key] == h {
		delete(k.held, key)
	}
	switch {
	case h.users > 0:
	case k.held[key] == h:
		h.over.Reset(k.Idle)
	default:
		h.over.Reset(0)
	}
}

// end closes a thing, unless somebody uses it.
func (k *Kept[T]) end(key string, h *kept[T]) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if h.users > 0 {
		return
	}
	if k.held[key] == h {
		delete(k.held, key)
	}
	h.users++ // it is closed once
	go k.Close(h.thing)
}

// makeRoom reports whether another thing may be open; it ends one that nobody uses.
func (k *Kept[T]) makeRoom() bool {
	for key, h := range k.held {
		if len(k.held) >= k.Most && h.users == 0 {
			delete(k.held, key)
			h.over.Reset(0)
		}
	}
	return len(k.held) < k.Most
}
