// Package throttle bounds how often someone may try: bad tokens, unknown
// correlation ids, wrong passwords. It knows keys and times, not what they
// stand for.
package throttle

import (
	"net/netip"
	"sync"
	"time"
)

// maxKeys bounds the memory a limiter takes, whatever an attacker does.
const maxKeys = 100_000

// A Limiter allows each key a burst of tries, and gives one back per interval.
type Limiter struct {
	burst    int
	interval time.Duration

	mu    sync.Mutex
	spent map[string]time.Time // when all of the burst will be back
}

// New makes a limiter.
func New(burst int, interval time.Duration) *Limiter {
	return &Limiter{burst: burst, interval: interval, spent: make(map[string]time.Time)}
}

// Try counts one try for a key. It gives 0, or how long to wait if the key has
// none left; such a try does not count.
func (l *Limiter) Try(key string) (wait time.Duration) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	full := l.spent[key]
	if full.Before(now) {
		full = now
	}
	full = full.Add(l.interval)
	if over := full.Sub(now) - time.Duration(l.burst)*l.interval; over > 0 {
		return over
	}
	if len(l.spent) >= maxKeys {
		makeRoom(l.spent, func(full time.Time) bool { return full.Before(now) })
	}
	l.spent[key] = full
	return 0
}

// makeRoom drops what is spent from a full map, and if that is not much, any
// other tenth of it: so that a flood of new keys doesn't search it each time.
func makeRoom[V any](m map[string]V, spent func(V) bool) {
	for key, value := range m {
		if spent(value) {
			delete(m, key)
		}
	}
	for key := range m {
		if len(m) <= maxKeys*9/10 {
			return
		}
		delete(m, key)
	}
}

// Network gives the key of a client address. One IPv6 client can have a whole
// network of 64 bits, so that is what counts.
func Network(address string) string {
	addr, err := netip.ParseAddr(address)
	if err != nil || addr.Is4() || addr.Is4In6() {
		return address
	}
	prefix, err := addr.Prefix(64)
	if err != nil {
		return address
	}
	return prefix.String()
}
