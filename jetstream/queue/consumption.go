package queue

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/semaphore"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/stream"
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
	run      func(sluice.Delivery) (sluice.Outcome, error)
	slots    *slots
	ordered  bool // events are run one after the other

	bytes      *semaphore.Weighted // of decoded events
	taken      chan struct{}       // one token for each delivery from the waiting room
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
	c.tell(ctx, d, a, err)
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

// tell tells the source of a delivery how it ended.
func (c *consumption) tell(ctx context.Context, d *delivery, a attempt, err error) {
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
		wait = min(wait, lookAgain)
	}
	return wait
}

// attempt runs the pipeline once, as soon as there is a slot and memory for it. The
// event is decoded only then, to save memory. The slot is free again when attempt
// returns.
func (c *consumption) attempt(ctx context.Context, d *delivery) (a attempt, err error) {
	if err := c.takeSlot(ctx, d); err != nil {
		return a, err
	}
	defer c.slots.give(d.waited)
	if err := d.from.load(ctx, d); err != nil {
		return a, err
	}
	release, err := c.decoding(ctx, d.data)
	if err != nil {
		return a, errNoSlot
	}
	defer release()
	if err := c.queue.decode(d); err != nil {
		return a, err
	}
	if d.key == "" {
		d.key = eventKey(c.queue.ids, d.sequence, d.TraceID)
	}
	if d.doubtful {
		if a, known, err := c.lookUp(ctx, d); known || err != nil {
			return a, err
		}
	}
	return c.runOnce(d)
}

// takeSlot waits for a slot. A live replay that finds none moves to the waiting room
// instead, so that no other event waits for it.
func (c *consumption) takeSlot(ctx context.Context, d *delivery) error {
	if c.slots.tryTake(d.waited) {
		return nil
	}
	if err := c.giveWay(ctx, d); err != nil {
		return err
	}
	if c.slots.take(ctx, d.waited) != nil {
		return errNoSlot
	}
	return nil
}

// giveWay moves a live replay to the waiting room, and then returns errElsewhere. A
// replay that was moved before, or is done, waits for a slot: attempt looks it up.
func (c *consumption) giveWay(ctx context.Context, d *delivery) error {
	const head = 8 << 10 // the field stands before the payload
	if d.waited || d.sequence == 0 || !bytes.Contains(d.data[:min(len(d.data), head)], []byte(`"replayOf":"`)) || c.keepsPlace(d.event) {
		return nil
	}
	e, err := correlation.ReadEnvelope(&jetstream.RawStreamMsg{Sequence: d.sequence, Subject: d.Subject, Data: d.data, Time: d.Time})
	if err != nil || e.ReplayOf == "" {
		return nil //nolint:nilerr // attempt finds what is wrong with it
	}
	waiting := c.queue.waiting
	key := eventKey(c.queue.ids, e.Sequence, e.TraceID)
	if d.doubtful {
		if known, err := waiting.find(ctx, c.binding, key); known != nil || err != nil {
			return nil //nolint:nilerr // attempt looks it up again
		}
	}
	if err := waiting.put(context.Background(), c.binding, key, d.event, state{Due: waiting.now().UTC()}); err != nil {
		return err
	}
	return errElsewhere
}

// keepsPlace reports whether a live event keeps its place while it waits for its next
// attempt: because the order counts, or because it has no room in the waiting room. Only
// another program can have published one that is too large for it.
func (c *consumption) keepsPlace(e event) bool {
	return c.ordered || len(e.data) > stream.MaxEvent || c.queue.waiting.full(c.binding)
}

// decoding waits for the memory to decode an event.
func (c *consumption) decoding(ctx context.Context, data []byte) (release func(), err error) {
	weight := int64(min(len(data), sluice.MaxRunBytes))
	if err := c.bytes.Acquire(ctx, weight); err != nil {
		return nil, err
	}
	decoded, err := c.queue.memory.decoded.acquire(ctx, footprint(data))
	if err != nil {
		c.bytes.Release(weight)
		return nil, err
	}
	return func() {
		c.queue.memory.decoded.release(decoded)
		c.bytes.Release(weight)
	}, nil
}

// lookUp returns what an earlier delivery has made of the event. If nothing is known,
// the pipeline runs now.
func (c *consumption) lookUp(ctx context.Context, d *delivery) (a attempt, known bool, err error) {
	outcome, stored, err := c.queue.outcomes.find(ctx, d.sequence, d.TraceID, c.pipeline)
	switch {
	case err != nil:
		return a, false, err
	case outcome != nil: // one that is not durable yet is stored again: its writer may have given it up
		return attempt{outcome: *outcome, before: stored <= c.queue.outcomes.writer.Durable()}, true, nil
	}
	d.doubtful = false
	if d.state != nil { // it was in the waiting room until now
		return a, false, nil
	}
	s, err := c.queue.waiting.find(ctx, c.binding, d.key)
	switch {
	case s == nil || err != nil:
		return a, false, err
	case !s.Held:
		return a, false, errElsewhere
	}
	d.state = s
	if c.queue.waiting.left(s.Due) <= 0 {
		return a, false, nil
	}
	d.First = s.First
	return attempt{outcome: sluice.Outcome{Status: sluice.StatusProcessing, Attempts: s.Attempts, Next: s.Due}, before: true}, true, nil
}

// runOnce runs the pipeline.
func (c *consumption) runOnce(d *delivery) (a attempt, err error) {
	a.began = time.Now().UTC()
	if d.state != nil {
		d.Attempts, d.First = d.state.Attempts, d.state.First
	}
	if a.outcome, err = c.run(d.Delivery); err != nil {
		return attempt{}, err
	}
	a.release = c.queue.memory.settling(a.outcome) // still in the slot, so no other run makes an outcome meanwhile
	return a, nil
}

// settle stores the outcome of an event, and removes the event from the waiting room.
func (c *consumption) settle(d *delivery, a attempt) error {
	if err := c.queue.store(d, a, d.data); err != nil {
		return err
	}
	if a.outcome.Status == sluice.StatusOK {
		c.queue.waiting.targetBack(c.binding)
	}
	if d.state != nil || d.Count > 1 { // an earlier process may have put it there
		c.queue.waiting.drop(context.Background(), c.binding, d.key)
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
	failed := a.outcome.Status == sluice.StatusError
	if a.before {
		if !failed {
			return nil
		}
		return q.deadLetters.AddMissing(ctx, d.Delivery, letter, a.outcome)
	}
	// The outcome comes first. Without it the event is run again, and a letter
	// would remain even if that run succeeds. Callers hear of a failure when its
	// letter is stored, too, so that they find it.
	if failed {
		subject := q.outcomes.subject(d.sequence, d.TraceID, a.outcome.Pipeline)
		q.unlettered.Store(subject, true)
		defer q.unlettered.Delete(subject)
	}
	sequence, err := q.outcomes.Put(ctx, d.sequence, d.TraceID, a.outcome)
	if err != nil {
		return err
	}
	if failed {
		if err := q.deadLetters.Add(ctx, d.Delivery, letter, a.outcome); err != nil {
			return err
		}
	}
	if err := q.outcomes.notices.tell(d.sequence, d.TraceID, a.outcome, d.Waits); err != nil {
		return err
	}
	first, _ := d.Message["firstId"].(string)
	q.settled(d.sequence, d.TraceID, first, a.outcome)
	q.tellEnd(ctx, d, sequence, a.outcome)
	return nil
}

// maxUnreadable bounds how much of an unreadable event its dead letter has.
const maxUnreadable = 64 << 10

// refuse makes a dead letter of an event that can never be read.
func (c *consumption) refuse(d *delivery, cause error) {
	c.queue.host.Log.Error("A stored event can't be read; it becomes a dead letter.", "pipeline", c.pipeline, "error", cause)
	shown := problem.Of(sluice.Errorf(sluice.CodeEventUnreadable, "The event is no JSON object within the limits; a program that publishes to the engine has sent it.").InCall(d.TraceID))
	a := attempt{outcome: sluice.Outcome{
		Pipeline: c.pipeline, Status: sluice.StatusError, StatusCode: shown.StatusCode, Error: shown, Attempts: 1, Finished: time.Now().UTC(),
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
