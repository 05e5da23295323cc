package iam

import (
	"context"
	"slices"
	"sync"
	"time"

	"sluice"
	"sluice/stretch"
)

const (
	// hashWait is how long a password waits for a core that hashes it.
	hashWait = 2 * time.Second
	// maxGuesses bounds the passwords of strangers that wait.
	maxGuesses = 1024
)

// cores hands out the cores that hash passwords. A hash takes long on purpose, so whoever
// sends many passwords could keep everybody else waiting. Therefore people who have proven
// themselves go first. Of strangers, each network has one password waiting; those with the
// fewest wrong guesses go first, and of these the newest: however many have come before,
// the next one is not behind them.
type cores struct {
	mu      sync.Mutex
	free    int
	waiting []*guess // in the order in which they go
}

// A guess is a password that waits for a core.
type guess struct {
	network string
	proven  bool          // by an earlier login of that user from there
	wrong   int           // guesses of the network lately
	done    chan struct{} // closed when it has a core or is refused
	refused bool
}

// before reports whether a guess goes before an older one.
func (g *guess) before(older *guess) bool {
	if g.proven || older.proven {
		return g.proven && !older.proven
	}
	return g.wrong <= older.wrong
}

func busy() error {
	return sluice.CodeLoginBusy.Errorf("Too many passwords are being checked. Try again soon.").After(hashWait)
}

// take waits for a core.
func (c *cores) take(ctx context.Context, g *guess) (release func(), err error) {
	g.done = make(chan struct{})
	if !c.enter(g) {
		return nil, busy()
	}
	ctx, cancel := context.WithTimeout(ctx, stretch.Of(hashWait))
	defer cancel()
	select {
	case <-g.done:
	case <-ctx.Done(): // whoever has left wants no core
		c.leave(g)
	}
	<-g.done // it may have got a core meanwhile
	if g.refused {
		return nil, busy()
	}
	return c.release, nil
}

// enter gives a guess a core, or a place in the queue if there is one for it.
func (c *cores) enter(g *guess) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.free > 0 {
		c.free--
		close(g.done)
		return true
	}
	strangers := 0
	for _, other := range c.waiting {
		switch {
		case other.proven:
		case !g.proven && other.network == g.network:
			return false
		default:
			strangers++
		}
	}
	at := slices.IndexFunc(c.waiting, g.before)
	if at < 0 {
		at = len(c.waiting)
	}
	c.waiting = slices.Insert(c.waiting, at, g)
	if !g.proven && strangers >= maxGuesses {
		c.refuse(len(c.waiting) - 1)
	}
	return true
}

// leave refuses a guess if it still waits.
func (c *cores) leave(g *guess) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := slices.Index(c.waiting, g); at >= 0 {
		c.refuse(at)
	}
}

// release gives a core back, to the guess that goes first.
func (c *cores) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) == 0 {
		c.free++
		return
	}
	close(c.waiting[0].done)
	c.waiting = slices.Delete(c.waiting, 0, 1)
}

// refuse ends the wait of a guess without a core. The caller must hold the lock.
func (c *cores) refuse(at int) {
	g := c.waiting[at]
	g.refused = true
	close(g.done)
	c.waiting = slices.Delete(c.waiting, at, at+1)
}
