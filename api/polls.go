package api

import (
	"sync"
	"time"

	"sluice"
)

const (
	pollLongest = 10 * time.Minute // the wait does not grow beyond this
	maxPolled   = 100_000          // results whose polls are remembered
	maxHeld     = 2048             // polls held at the same time
)

// polls bounds how often a result that is not ready is asked for.
type polls struct {
	mu   sync.Mutex
	next map[string]time.Time // when the next poll is in time, by correlation id
	held map[string]bool
}

func newPolls() *polls {
	return &polls{next: make(map[string]time.Time), held: make(map[string]bool)}
}

// try refuses a poll that comes too early: then each makes the wait longer.
func (p *polls) try(id string, now time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.next) >= maxPolled {
		p.forget(now)
	}
	next, known := p.next[id]
	if !known || !now.Before(next) {
		p.next[id] = now.Add(sluice.PollInterval)
		return nil
	}
	if longest := now.Add(pollLongest); next.Add(sluice.PollInterval).Before(longest) {
		next = next.Add(sluice.PollInterval)
	} else {
		next = longest
	}
	p.next[id] = next
	return sluice.Errorf(sluice.Throttled, "polling-too-often", "The result is not ready, and polls for it come too often; each early one makes the wait longer. With pollingRedirectEnabled=true the server does the waiting.").After(next.Sub(now))
}

// forget makes space: first what would be in time anyway, else everything.
func (p *polls) forget(now time.Time) {
	for id, next := range p.next {
		if !now.Before(next) {
			delete(p.next, id)
		}
	}
	if len(p.next) >= maxPolled {
		clear(p.next)
	}
}

// hold says that a poll waits for its result, until release is called. It
// refuses a second one for the same result.
func (p *polls) hold(id string) (release func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held[id] {
		return nil, sluice.Errorf(sluice.Throttled, "polling-too-often", "Another poll for this result is being held; follow that one.").After(sluice.PollInterval)
	}
	if len(p.held) >= maxHeld {
		return nil, busy("overloaded", "The server holds as many polls as it can.")
	}
	p.held[id] = true
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.held, id)
	}, nil
}
