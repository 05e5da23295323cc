package throttle

import (
	"sync"
	"time"
)

// A Backoff makes a key wait after failures: the first few are free, each
// further one doubles the wait up to a longest one. It never locks for good.
type Backoff struct {
	Free    int
	First   time.Duration
	Longest time.Duration

	mu    sync.Mutex
	since map[string]failures
}

type failures struct {
	count int
	until time.Time // no try before
}

// Wait gives how long a key has to wait until it may try.
func (b *Backoff) Wait(key string) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(0, time.Until(b.since[key].until))
}

// Fail counts a failure of a key.
func (b *Backoff) Fail(key string) {
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.since == nil {
		b.since = make(map[string]failures)
	}
	if len(b.since) >= maxKeys {
		makeRoom(b.since, func(f failures) bool { return f.until.Before(now) })
	}
	f := b.since[key]
	if !f.until.IsZero() && now.Sub(f.until) > b.Longest {
		f = failures{} // long ago
	}
	f.count++
	f.until = now
	if f.count >= b.Free {
		f.until = now.Add(min(b.Longest, b.First<<min(f.count-b.Free, 30)))
	}
	b.since[key] = f
}

// Succeed forgets the failures of a key.
func (b *Backoff) Succeed(key string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.since, key)
}
