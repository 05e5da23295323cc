package pipeline

import (
	"net/http"
	"slices"
	"time"

	"sluice"
	"sluice/pipeline/source"
	"sluice/problem"
)

// A retryPolicy says when another attempt follows a failed one. It reads no clock, and
// its only randomness is jitter.
type retryPolicy struct {
	source.Retry

	jitter func(below time.Duration) time.Duration // a random duration
}

// next returns when the next attempt is due after a delivery that failed with err. It is zero
// if there is none. A try that was no attempt brings no attempt closer.
func (p retryPolicy) next(now time.Time, d sluice.Delivery, err error) time.Time {
	asked := sluice.AsError(err).RetryAfter
	if !worthRetrying(err) {
		return time.Time{}
	}
	if !d.Due.IsZero() {
		return slices.MaxFunc([]time.Time{d.Due, now.Add(min(asked, p.MaxBackoff))}, time.Time.Compare)
	}
	due := now.Add(p.wait(d.Attempts+1, asked))
	if d.Attempts >= p.Times || due.Sub(d.First) > p.Within {
		return time.Time{}
	}
	return due
}

// wait returns how long to wait after a number of attempts. Part of it is random, so
// that events that failed together don't come back together. An error may ask for more.
func (p retryPolicy) wait(attempts int, asked time.Duration) time.Duration {
	const part = 4 // the jitter is at most a quarter
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

// targetAway reports whether an attempt failed because the server that it called is out
// of order or overloaded.
func targetAway(err error) bool {
	status := problem.Status(err)
	return sluice.CodeHTTPFailed.Is(err) || sluice.CodeHTTPTimeout.Is(err) || sluice.CodeMailFailed.Is(err) ||
		sluice.CodeTargetAway.Is(err) ||
		(sluice.CodeHTTPStatus.Is(err) || sluice.CodeAuthFailed.Is(err)) &&
			(status == http.StatusTooManyRequests || status >= http.StatusInternalServerError)
}

// worthRetrying reports whether another attempt may succeed. It can't after a loop, nor
// after a refusal that is not temporary.
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
