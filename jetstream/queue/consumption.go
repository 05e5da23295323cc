package queue

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"sluice"
	"sluice/problem"
	"sluice/value"
)

// A consumption runs one pipeline for its deliveries, within the bounds of
// sluice.Deliveries. Deliveries come from two sources, the pipeline's consumer and
// the waiting room, and all of them go the same way.
type consumption struct {
	queue    *Queue
	pipeline string
	binding  string
	sluice.Handler
	slots   *slots
	ordered bool     // events are run one after the other
	types   []string // of events that the pipeline takes, see sluice.HasType
	peeks   bool     // the pipeline is asked before a run whether it wants an event

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
	c.inCrew(func() { c.deliver(ctx, d) })
}

// inCrew has a goroutine do some work of this pipeline.
func (c *consumption) inCrew(work func()) {
	c.deliveries.Add(1)
	c.queue.crew.do(func() {
		defer c.deliveries.Done()
		work()
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
	c.queue.Waiting.heard(c, d, a.outcome)
	switch {
	case err != nil:
	case a.failed():
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
	// errNoRoom is the error of a delivery that has to wait, and finds no room for that.
	errNoRoom = errors.New("no room to wait")
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
	case errors.Is(err, errNoRoom):
		d.from.giveBack(d, consumeRetry)
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
	wait := max(consumeRetry, a.outcome.Next.Sub(c.queue.Waiting.now()))
	if a.before {
		wait = min(wait, lookEvery)
	}
	return wait
}

// settle stores the outcome of an event, and removes the event from the waiting room.
func (c *consumption) settle(d *delivery, a attempt) error {
	if err := c.queue.store(d, a, d.data); err != nil {
		return err
	}
	c.queue.Waiting.leave(c.binding, d.key)
	if d.state != nil || d.again { // an earlier process may have put it there
		c.queue.Waiting.drop(context.Background(), c.binding, d.key)
	} else {
		d.kept.remove(context.Background())
	}
	return nil
}

// store stores an outcome, and a dead letter with the event if it is a failure. They
// are on stable storage before the event is acknowledged: otherwise a power cut could
// keep the acknowledgement and lose the outcome.
func (q *Queue) store(d *delivery, a attempt, letter []byte) error {
	// Not the run's context: outcomes are stored even while the server stops.
	// Writers have time-outs of their own.
	ctx := context.Background()
	if !a.before && !q.host.SoleWriter && (d.Count > 1 || time.Since(a.began) > q.AckWait) {
		// Another node may have been given the event meanwhile, and have been faster.
		known, _, err := q.Outcomes.find(ctx, d.sequence, d.TraceID, a.outcome.Pipeline)
		if known != nil && err == nil {
			a.outcome, a.before = *known, true
		}
	}
	failed := a.outcome.Status == sluice.StatusError
	if a.before {
		if d.settled = true; !failed {
			return nil
		}
		return q.DeadLetters.AddMissing(ctx, d.Delivery, letter, a.outcome)
	}
	// The outcome comes first. Without it the event is run again, and a letter
	// would remain even if that run succeeds. Callers hear of a failure when its
	// letter is stored, too, so that they find it.
	subject := q.Outcomes.subject(d.sequence, d.TraceID, a.outcome.Pipeline)
	if failed {
		q.unlettered.Store(subject, true)
		defer q.unlettered.Delete(subject)
	}
	sequence, err := q.Outcomes.Put(ctx, d.sequence, d.TraceID, a.outcome)
	if err != nil {
		return err
	}
	if failed {
		if err := q.DeadLetters.Add(ctx, d.Delivery, letter, a.outcome); err != nil {
			return err
		}
		q.unlettered.Delete(subject) // whoever is told may ask at once
	}
	if err := q.Outcomes.tell(d.sequence, d.TraceID, a.outcome, d.Waits); err != nil {
		return err
	}
	a.outcome.Stored, d.settled = sequence, true
	q.Settled(q.reportEnd(ctx, d, a.outcome))
	return nil
}

// maxUnreadable bounds how much of an unreadable event its dead letter has.
const maxUnreadable = 64 << 10

// refuse makes a dead letter of an event that can never be read.
func (c *consumption) refuse(d *delivery, cause error) {
	c.queue.host.Log.Error("A stored event can't be read; it becomes a dead letter.", "pipeline", c.pipeline,
		"error", cause)
	view := problem.Of(sluice.CodeEventUnreadable.Errorf(
		"The event is no JSON object within the limits; a program that publishes to the engine has sent it.").
		InCall(d.TraceID))
	a := attempt{outcome: sluice.Outcome{
		Pipeline: c.pipeline, Status: sluice.StatusError, StatusCode: view.StatusCode, Error: view, Attempts: 1,
		Finished: time.Now().UTC(),
	}}
	head := d.data[:min(len(d.data), maxUnreadable)]
	text, err := value.Marshal(strings.ToValidUTF8(string(head), "\uFFFD"))
	if err == nil {
		err = c.queue.store(d, a, text)
	}
	if err != nil {
		d.from.giveBack(d, consumeRetry)
		return
	}
	c.queue.unreadable.Add(1)
	d.from.refuse(d)
}
