package limit

import "time"

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

// Bounds on the credentials that callers send.
const (
	MinPassword = 8       // characters
	MaxPassword = 1 << 10 // bytes, since they are hashed
	MaxUsername = 256     // bytes, since they are counted and logged
)
