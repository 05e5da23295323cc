package queue

import (
	"sync/atomic"

	"sluice"
)

// A crew is a pool of goroutines that do pieces of work. One that is done waits
// for more, since its stack has already grown to what the work needs.
type crew struct {
	start func(func()) // runs a goroutine
	done  <-chan struct{}
	work  chan func()
	idle  atomic.Int32
}

// do lets an idle goroutine, or a new one, do a piece of work.
func (c *crew) do(work func()) {
	select {
	case c.work <- work:
	default:
		c.start(func() { c.serve(work) })
	}
}

func (c *crew) serve(work func()) {
	for {
		work()
		if c.idle.Add(1) > sluice.MaxIdleRunners {
			c.idle.Add(-1)
			return
		}
		select {
		case work = <-c.work:
			c.idle.Add(-1)
		case <-c.done:
			return
		}
	}
}
