package limit

import "time"

// Failures makes a key wait after it has failed: the first few failures are
// free, each further one doubles the wait up to a longest one. It never locks
// for good: failures are forgotten when the longest wait has passed without one.
type Failures struct {
	free           int
	first, longest time.Duration
	since          *Cache[string, failed]
}

type failed struct {
	count int
	until time.Time // no try before
}

// NewFailures returns a bound on failures.
func NewFailures(free int, first, longest time.Duration) *Failures {
	return &Failures{free, first, longest, NewCache[string, failed](maxKeys)}
}

// Wait returns how long a key has to wait until it may try.
func (f *Failures) Wait(key string) time.Duration {
	now := time.Now()
	since, _ := f.since.Get(key, now)
	return max(0, since.until.Sub(now))
}

// Fail counts a failure of a key, and gives how many there were lately.
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

// Bounds on the credentials that callers send.
const (
	MinPassword = 8       // characters
	MaxPassword = 1 << 10 // bytes, since they are hashed
	MaxUsername = 256     // bytes, since they are counted and logged
)
