package outward

import (
	"errors"

	"sluice/limit"
)

// Waiters bounds how many calls wait for servers of others, each and all of them: a slow one must
// not hold up who needs another.
type Waiters struct {
	each *limit.Shares[string]
	all  *limit.Slots
}

// NewWaiters returns waiters of which so many wait for one server, and for all.
func NewWaiters(each, all int) *Waiters {
	return &Waiters{limit.NewShares[string](each), limit.NewSlots(all)}
}

// ErrWaiters says that enough calls wait already.
var ErrWaiters = errors.New("too many calls wait for an answer of this server")

// Enter lets a call wait for a server until leave is called, or fails with ErrWaiters.
func (w *Waiters) Enter(server string) (leave func(), err error) {
	if !w.each.Enter(server) {
		return nil, ErrWaiters
	}
	if w.all.Enter() != nil {
		w.each.Leave(server)
		return nil, ErrWaiters
	}
	return func() {
		w.all.Leave()
		w.each.Leave(server)
	}, nil
}
