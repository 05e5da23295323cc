package limit

import (
	"sync/atomic"
	"time"

	"sluice"
)

// Places bounds how many calls are handled at the same time. A call takes a
// place when all of it has arrived: a body that is still on its way costs no
// work.
type Places struct {
	max   int64
	taken atomic.Int64
}

// NewPlaces returns that many places.
func NewPlaces(most int) *Places { return &Places{max: int64(most)} }

// Enter takes a place, until Leave is called. It fails with Unavailable if
// there is none: a caller that is refused at once can try again, one that
// queues too long has given up.
func (p *Places) Enter() error {
	if p.taken.Add(1) > p.max {
		p.Leave()
		return sluice.Errorf(sluice.CodeOverloaded, "The server handles as many calls as it can. Try again soon.").After(2 * time.Second)
	}
	return nil
}

// Leave gives a place back.
func (p *Places) Leave() { p.taken.Add(-1) }
