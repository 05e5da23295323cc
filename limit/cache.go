package limit

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// maxKeys bounds the memory for keys, whatever an attacker does.
const maxKeys = 100_000

// A Cache holds a bounded number of values, each until it expires. A full cache drops the
// tenth that would expire first, so a flood of short-lived keys does not drive out others.
type Cache[K comparable, V any] struct {
	size int

	mu   sync.Mutex
	held map[K]cached[V]
}

type cached[V any] struct {
	value V
	until time.Time
}

// NewCache returns a cache for at most that many values.
func NewCache[K comparable, V any](size int) *Cache[K, V] {
	return &Cache[K, V]{size: size, held: map[K]cached[V]{}}
}

// Get returns the value of a key, if it has one that has not expired.
func (c *Cache[K, V]) Get(key K, now time.Time) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.get(key, now)
}

// Put stores a value until it expires.
func (c *Cache[K, V]) Put(key K, value V, until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(key, value, until)
}

// Change replaces the value of a key. decide gets the zero value if there is none, or if it
// has expired.
func (c *Cache[K, V]) Change(key K, now time.Time, decide func(V) (_ V, until time.Time)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, _ := c.get(key, now)
	after, until := decide(before)
	c.put(key, after, until)
}

// Drop deletes the value of a key.
func (c *Cache[K, V]) Drop(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.held, key)
}

func (c *Cache[K, V]) get(key K, now time.Time) (value V, ok bool) {
	if found := c.held[key]; now.Before(found.until) {
		return found.value, true
	}
	return value, false
}

func (c *Cache[K, V]) put(key K, value V, until time.Time) {
	if _, known := c.held[key]; !known && len(c.held) >= c.size {
		c.makeRoom()
	}
	c.held[key] = cached[V]{value, until}
}

func (c *Cache[K, V]) makeRoom() {
	ends := make([]time.Time, 0, len(c.held))
	for _, held := range c.held {
		ends = append(ends, held.until)
	}
	slices.SortFunc(ends, time.Time.Compare)
	last := ends[len(ends)/10]
	maps.DeleteFunc(c.held, func(_ K, held cached[V]) bool { return !held.until.After(last) })
}
