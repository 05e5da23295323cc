package api

import (
	"sync"
	"time"

	"sluice"
	"sluice/limit"
)

const (
	pollLongest = 10 * time.Minute // the wait does not grow beyond this
	maxPolled   = 100_000          // results whose polls are remembered
	maxHeld     = 2048             // polls held at the same time
)

// polls enforces the rule that polls for a result that is not ready must be
// sluice.PollInterval apart.
type polls struct {
	next *limit.Cache[string, time.Time] // when the next poll is in time, by correlation id

	mu   sync.Mutex
	held map[string]bool
}

func newPolls() *polls {
	return &polls{next: limit.NewCache[string, time.Time](maxPolled), held: make(map[string]bool)}
}

// try refuses a poll that comes too early. Each such poll makes the wait longer.
func (p *polls) try(id string, now time.Time) error {
	var early, wait time.Duration
	p.next.Change(id, now, func(next time.Time) (_, until time.Time) {
		if !next.IsZero() {
			early = next.Sub(now)
		}
		wait = min(early+sluice.PollInterval, pollLongest)
		return now.Add(wait), now.Add(wait)
	})
	if early == 0 {
		return nil
	}
	return sluice.Errorf(sluice.CodePollingTooOften, "The result is not ready, and polls for it come too often; each early one makes the wait longer. With pollingRedirectEnabled=true the server does the waiting.").After(wait)
}

// hold marks a poll as waiting for its result, until release is called. It
// refuses a second one for the same result.
func (p *polls) hold(id string) (release func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held[id] {
		return nil, sluice.Errorf(sluice.CodePollingTooOften, "Another poll for this result is being held; follow that one.").After(sluice.PollInterval)
	}
	if len(p.held) >= maxHeld {
		return nil, sluice.Passing(sluice.CodeOverloaded, "The server holds as many polls as it can.")
	}
	p.held[id] = true
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.held, id)
	}, nil
}
