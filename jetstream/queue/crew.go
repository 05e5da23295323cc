package queue

import (
	"sync/atomic"

	"sluice"
)

// A crew is a pool of goroutines. One that has done its work waits for more, since its
// stack has already grown to what the work needs.
type crew struct {
	start func(func()) // runs a goroutine
	done  <-chan struct{}
	work  chan func()
	idle  atomic.Int32
}

// do has an idle goroutine, or a new one, do some work.
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
