package pipeline

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"sluice"
	"sluice/pipeline/source"
)

// TestRetry: when the next attempt is due after a failed one, if there is one.
func TestRetry(t *testing.T) {
	const none = -1
	unavailable := sluice.Code("away").Errorf("Not now.").OfKind(sluice.Unavailable)
	status := func(code int) error {
		return sluice.CodeFailed.Errorf("No.").OfKind(sluice.Internal).WithStatus(code)
	}
	policy := source.Retry{Times: 10, Backoff: time.Second, MaxBackoff: time.Minute, Within: time.Hour}
	once := policy
	once.Times = 1
	tests := []struct {
		name     string
		policy   source.Retry
		attempts int
		age      time.Duration // of the first attempt
		err      error
		least    time.Duration // without jitter where it adds, with all of it where it takes away
		most     time.Duration
		besides  time.Duration // before which it is no attempt; 0: it is one
	}{
		{"the first retry", policy, 1, 0, unavailable, time.Second, 1250 * time.Millisecond, 0},
		{"it doubles", policy, 4, 0, unavailable, 8 * time.Second, 10 * time.Second, 0},
		{"the jitter stays below the bound", policy, 6, 0, unavailable, 32 * time.Second, 40 * time.Second, 0},
		{"the bound, less the jitter", policy, 7, 0, unavailable, 45 * time.Second, time.Minute, 0},
		{"the bound for ever", policy, 10, 0, unavailable, 45 * time.Second, time.Minute, 0},
		{"no more attempts", policy, 11, 0, unavailable, none, none, 0},
		{"the only retry", once, 1, 0, unavailable, time.Second, 1250 * time.Millisecond, 0},
		{"none behind it", once, 2, 0, unavailable, none, none, 0},
		{"none by default", source.Retry{Backoff: time.Second, MaxBackoff: time.Minute, Within: time.Hour}, 1, 0, unavailable, none, none, 0},
		{"just in time", policy, 1, time.Hour - 1250*time.Millisecond, unavailable, time.Second, 1250 * time.Millisecond, 0},
		{"too late", policy, 1, time.Hour, unavailable, none, none, 0},
		{"asked to wait longer", policy, 1, 0, unavailable.After(30 * time.Second), 30 * time.Second, 30 * time.Second, 0},
		{"asked to wait less", policy, 4, 0, unavailable.After(time.Second), 8 * time.Second, 10 * time.Second, 0},
		{"asked to wait beyond the bound", policy, 1, 0, unavailable.After(time.Hour), time.Minute, time.Minute, 0},
		{"an error of no kind", policy, 1, 0, errors.New("broken"), time.Second, 1250 * time.Millisecond, 0},
		{"a refusal", policy, 1, 0, status(http.StatusConflict), none, none, 0},
		{"a time-out", policy, 1, 0, status(http.StatusRequestTimeout), time.Second, 1250 * time.Millisecond, 0},
		{"too early", policy, 1, 0, status(http.StatusTooEarly), time.Second, 1250 * time.Millisecond, 0},
		{"too often", policy, 1, 0, status(http.StatusTooManyRequests), time.Second, 1250 * time.Millisecond, 0},
		{"a loop", policy, 1, 0, status(http.StatusLoopDetected), none, none, 0},
		{"a try besides", once, 5, 2 * time.Hour, unavailable, 20 * time.Second, 20 * time.Second, 20 * time.Second},
		{"a try besides, asked to wait longer", once, 5, 0, unavailable.After(30 * time.Second), 30 * time.Second, 30 * time.Second, 20 * time.Second},
		{"a try besides that is refused", policy, 1, 0, status(http.StatusConflict), none, none, 20 * time.Second},
	}
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			least, most := time.Duration(none), time.Duration(none)
			for _, all := range []bool{false, true} {
				jitter := func(below time.Duration) time.Duration {
					if all {
						return below
					}
					return 0
				}
				delivery := sluice.Delivery{Attempts: test.attempts - 1, First: now.Add(-test.age)}
				if test.besides > 0 {
					delivery.Due = now.Add(test.besides)
				}
				due := retryPolicy{test.policy, jitter}.next(now, delivery, test.err)
				if due.IsZero() {
					continue
				}
				if wait := due.Sub(now); least == none || wait < least {
					least = wait
				}
				most = max(most, due.Sub(now))
			}
			if least != test.least || most != test.most {
				t.Errorf("it is due in %s to %s, want %s to %s", least, most, test.least, test.most)
			}
		})
	}
}
