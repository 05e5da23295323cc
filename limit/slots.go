package limit

import (
	"sync/atomic"

	"sluice"
)

// Slots bounds how many calls are handled at the same time. A call takes a slot when all of
// it has arrived: an unfinished body costs no work.
type Slots struct {
	max   int64
	taken atomic.Int64
}

// NewSlots returns that many slots.
func NewSlots(most int) *Slots { return &Slots{max: int64(most)} }

// Enter takes a slot, until Leave is called. It fails with Unavailable if there is none: a
// caller that is refused at once can retry, one that queues too long has given up.
func (s *Slots) Enter() error {
	if s.taken.Add(1) > s.max {
		s.Leave()
		return sluice.Passing(sluice.CodeOverloaded, "The server handles as many calls as it can.")
	}
	return nil
}

// Leave gives a slot back.
func (s *Slots) Leave() { s.taken.Add(-1) }
