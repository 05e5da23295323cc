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
		l.forget(now)
	}
	l.spent[key] = full
	return 0
}

// forget drops the keys that have their whole burst back, or else any.
func (l *Limiter) forget(now time.Time) {
	for key, full := range l.spent {
		if full.Before(now) {
			delete(l.spent, key)
		}
	}
	for key := range l.spent {
		if len(l.spent) < maxKeys {
			return
		}
		delete(l.spent, key)
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
