package limit

import "time"

// maxKeys bounds how many keys are counted, whatever an attacker does.
const maxKeys = 100_000

// Tries allows each key a burst of tries, and gives one back per interval.
type Tries struct {
	burst    int
	interval time.Duration
	full     *Cache[string, time.Time] // when all of the burst will be back
}

// NewTries returns a bound on tries.
func NewTries(burst int, interval time.Duration) *Tries {
	return &Tries{burst, interval, NewCache[string, time.Time](maxKeys)}
}

// Try counts one try for a key. It returns 0, or how long to wait if the key
// has none left; such a try does not count.
func (t *Tries) Try(key string) (wait time.Duration) {
	now := time.Now()
	t.full.Change(key, now, func(full time.Time) (_, until time.Time) {
		if full.IsZero() {
			full = now
		}
		next := full.Add(t.interval)
		if wait = max(0, next.Sub(now)-time.Duration(t.burst)*t.interval); wait > 0 {
			return full, full
		}
		return next, next
	})
	return wait
}
