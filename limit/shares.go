package limit

import (
	"maps"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"sluice"
)

// Shares bounds how much each key may have at the same time, so that one or two can't take
// everything.
type Shares[K comparable] struct {
	max int

	mu    sync.Mutex
	taken map[K]int
}

// NewShares returns shares of at most that many for each key.
func NewShares[K comparable](most int) *Shares[K] {
	return &Shares[K]{max: most, taken: map[K]int{}}
}

// Enter takes one more for a key, unless it has its share.
func (s *Shares[K]) Enter(key K) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken[key] >= s.max {
		return false
	}
	s.taken[key]++
	return true
}

// Leave gives one back.
func (s *Shares[K]) Leave(key K) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken[key]--; s.taken[key] == 0 {
		delete(s.taken, key)
	}
}

// Network returns the key of a client address. One IPv6 client can have a whole /64, so the
// network counts.
func Network(address string) string {
	addr, err := netip.ParseAddr(address)
	if err != nil || addr.Unmap().Is4() {
		return address
	}
	return networkOf(addr).String()
}

// Neighbours returns the key of the addresses around one that a single stranger may well
// have: a /24 of IPv4, a /64 of IPv6.
func Neighbours(address string) string {
	addr, err := netip.ParseAddr(address)
	if err != nil || !addr.Unmap().Is4() {
		return Network(address)
	}
	const bits = 24
	network, _ := addr.Unmap().Prefix(bits) // it can't fail: an address has more bits
	return network.String()
}

func networkOf(addr netip.Addr) netip.Prefix {
	addr = addr.Unmap()
	bits := addr.BitLen()
	if addr.Is6() {
		bits = 64
	}
	network, _ := addr.WithZone("").Prefix(bits) // it can't fail: an address has that many bits
	return network
}

// Contains reports whether an address is in one of the networks.
func Contains(networks []netip.Prefix, addr netip.Addr) bool {
	return slices.ContainsFunc(networks, func(network netip.Prefix) bool { return network.Contains(addr) })
}

// Slots bounds how many calls are handled at the same time. A call takes a slot when all of
// it has arrived: an unfinished body costs no work.
type Slots struct {
	max   int64
	taken atomic.Int64
}

// NewSlots returns that many slots.
func NewSlots(most int) *Slots { return &Slots{max: int64(most)} }

// Enter takes a slot, until Leave is called. It fails with Unavailable if there is none: a
// caller that is refused at once can retry, one that queues too long has given up.
func (s *Slots) Enter() error {
	if s.taken.Add(1) > s.max {
		s.Leave()
		return sluice.Passing(sluice.CodeOverloaded, "The server handles as many calls as it can.")
	}
	return nil
}

// Leave gives a slot back.
func (s *Slots) Leave() { s.taken.Add(-1) }

// Failures makes a key wait after failures: the first few are free, each further one doubles
// the wait up to the longest. A key is never locked for good: its failures are forgotten
// after the longest wait without one.
type Failures struct {
	free           int
	first, longest time.Duration
	since          *Cache[string, failed]
}

type failed struct {
	count int
	until time.Time // no try before then
}

// NewFailures returns a bound on failures.
func NewFailures(free int, first, longest time.Duration) *Failures {
	return &Failures{free, first, longest, NewCache[string, failed](maxKeys)}
}

// Wait returns how long a key must wait before its next try.
func (f *Failures) Wait(key string) time.Duration {
	now := time.Now()
	since, _ := f.since.Get(key, now)
	return max(0, since.until.Sub(now))
}

// Count returns how many failures of a key there were lately.
func (f *Failures) Count(key string) int {
	since, _ := f.since.Get(key, time.Now())
	return since.count
}

// Fail counts a failure of a key, and returns how many there were lately.
func (f *Failures) Fail(key string) (count int) {
	now := time.Now()
	f.since.Change(key, now, func(since failed) (_ failed, until time.Time) {
		since.count++
		count = since.count
		since.until = now
		if since.count >= f.free {
			since.until = now.Add(min(f.longest, f.first<<min(since.count-f.free, 30)))
		}
		return since, since.until.Add(f.longest)
	})
	return count
}

// Succeed forgets the failures of a key.
func (f *Failures) Succeed(key string) { f.since.Drop(key) }

// maxKeys bounds the memory for keys, whatever an attacker does.
const maxKeys = 100_000

// Tries allows each key a burst of tries, and gives one back per interval.
type Tries struct {
	burst    int
	interval time.Duration
	full     *Cache[string, time.Time] // when the whole burst is available again
}

// NewTries returns a bound on tries.
func NewTries(burst int, interval time.Duration) *Tries {
	return &Tries{burst, interval, NewCache[string, time.Time](maxKeys)}
}

// Try counts a try of a key and returns 0. If the key has none left, it returns how long to
// wait, and the try does not count.
func (t *Tries) Try(key string) (wait time.Duration) {
	return t.At(key, t.interval, time.Duration(t.burst)*t.interval)
}

// At is Try for a key with an interval of its own, and a burst of what comes in that time.
func (t *Tries) At(key string, interval, burst time.Duration) (wait time.Duration) {
	now := time.Now()
	t.full.Change(key, now, func(full time.Time) (_, until time.Time) {
		if full.IsZero() {
			full = now
		}
		next := full.Add(interval)
		if wait = max(0, next.Sub(now)-burst); wait > 0 {
			return full, full
		}
		return next, next
	})
	return wait
}

// Bounds on the credentials that callers send.
const (
	MinPassword = 8       // characters
	MaxPassword = 1 << 10 // bytes, since they are hashed
	MaxUsername = 256     // bytes, since they are counted and logged
)

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
