package pipeline

import (
	"net/http"
	"time"

	"sluice"
	"sluice/pipeline/source"
	"sluice/problem"
)

// A retryPolicy says when a failed attempt is followed by another one. It asks
// neither a clock nor, but for the jitter, chance.
type retryPolicy struct {
	source.Retry

	jitter func(below time.Duration) time.Duration // a random duration
}

// next returns when the next attempt is due after a number of attempts, the last
// of which failed with err, and whether there is one at all.
func (p retryPolicy) next(now time.Time, attempts int, first time.Time, err error) (due time.Time, again bool) {
	if attempts > p.Times || !worthRetrying(err) {
		return time.Time{}, false
	}
	due = now.Add(p.wait(attempts, sluice.AsError(err).RetryAfter))
	if due.Sub(first) > p.Within {
		return time.Time{}, false
	}
	return due, true
}

// wait returns how long to wait after a number of attempts. A part of it is
// random, so that events that failed together don't come again together. An
// error may ask for longer.
func (p retryPolicy) wait(attempts int, asked time.Duration) time.Duration {
	const part = 4 // the jitter is up to one part of so many
	wait := p.Backoff
	for i := 1; i < attempts && wait < p.MaxBackoff; i++ {
		wait *= 2
	}
	if wait >= p.MaxBackoff {
		wait = p.MaxBackoff - p.jitter(p.MaxBackoff/part)
	} else {
		wait = min(wait+p.jitter(wait/part), p.MaxBackoff)
	}
	return max(wait, min(asked, p.MaxBackoff))
}

// worthRetrying reports whether another attempt may end better: not after a
// refusal, unless it is one for the moment, and not after a loop.
func worthRetrying(err error) bool {
	switch status := problem.Status(err); status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	case http.StatusLoopDetected:
		return false
	default:
		return status < http.StatusBadRequest || status >= http.StatusInternalServerError
	}
}
