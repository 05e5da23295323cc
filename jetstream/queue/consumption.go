package queue

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"sluice"
)

// A consumption runs one pipeline for its deliveries, within the bounds of
// sluice.Deliveries. Deliveries come from two sources, the pipeline's consumer and
// the waiting room, and all of them go the same way.
type consumption struct {
	queue    *Queue
	pipeline string
	binding  string
	run      func(sluice.Delivery) (sluice.Outcome, error)
	slots    *slots
	ordered  bool // events are run one after the other

	bytes      *semaphore.Weighted // of decoded events
	picked     chan struct{}       // one token for each delivery from the waiting room
	deliveries sync.WaitGroup
}

// start makes a delivery, in a goroutine of its own unless the order counts.
func (c *consumption) start(ctx context.Context, d *delivery) {
	if c.ordered {
		c.deliver(ctx, d)
		return
	}
	c.deliveries.Add(1)
	c.queue.crew.do(func() {
		defer c.deliveries.Done()
		c.deliver(ctx, d)
	})
}

// deliver makes attempts until the delivery is over.
func (c *consumption) deliver(ctx context.Context, d *delivery) {
	defer d.from.end(d)
	for c.attemptAndSettle(ctx, d) {
	}
}

// attemptAndSettle makes one attempt and settles the delivery. It returns true if the
// event kept its place and has waited until its next attempt, which is due.
func (c *consumption) attemptAndSettle(ctx context.Context, d *delivery) (due bool) {
	a, err := c.attempt(ctx, d)
	if a.release != nil {
		defer a.release()
	}
	switch {
	case err != nil:
	case a.failed():
		if a.outcome.Recovers {
			c.queue.waiting.targetAway(c.binding)
		}
		if due, err = d.from.wait(ctx, d, a); due {
			return true
		}
	default:
		err = c.settle(d, a)
	}
	c.report(ctx, d, a, err)
	return false
}

var (
	// errNoSlot is the error of a delivery that got no slot before the pipeline
	// stopped.
	errNoSlot = errors.New("no slot")
	// errElsewhere is the error of a delivery that has no work to do: the event
	// waits in the waiting room, or another delivery has it.
	errElsewhere = errors.New("the event is elsewhere")
)

// report tells the source of a delivery how it ended.
func (c *consumption) report(ctx context.Context, d *delivery, a attempt, err error) {
	switch {
	case err == nil || errors.Is(err, errElsewhere):
		d.from.ack()
	case errors.Is(err, errUnreadable):
		c.refuse(d, err)
	case errors.Is(err, errNoSlot):
		d.from.giveBack(d, 0)
	case ctx.Err() != nil:
		d.from.giveBack(d, consumeRetry) // stopping is not a failure
	default:
		c.queue.host.Log.Warn("An event will be delivered to its pipeline again.", "pipeline", c.pipeline, "error", err)
		d.from.giveBack(d, c.pause(a))
	}
}

// pause returns how long the source keeps an event that was given back. If an attempt
// has just failed and its state could not be stored, the source keeps the event until
// it is due: nothing else delays the next attempt. A due time that is stored is checked
// again sooner.
func (c *consumption) pause(a attempt) time.Duration {
	if !a.failed() {
		return consumeRetry
	}
	wait := max(consumeRetry, a.outcome.Next.Sub(c.queue.waiting.now()))
	if a.before {
		wait = min(wait, lookEvery)
	}
	return wait
}
