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
