package limit

import "time"

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
	return t.At(key, time.Now(), t.interval, time.Duration(t.burst)*t.interval)
}

// At is Try at a time, for a key with an interval of its own, and a burst of what comes in that time.
func (t *Tries) At(key string, now time.Time, interval, burst time.Duration) (wait time.Duration) {
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
