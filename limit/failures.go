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
