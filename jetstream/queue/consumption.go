package queue

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/semaphore"

	"sluice"
	"sluice/problem"
)

// A consumption hands the events of one pipeline to its runs, within the bounds of
// sluice.Deliveries.
type consumption struct {
	queue    *Queue
	pipeline string
	binding  string
	run      func(sluice.Delivery) (sluice.Outcome, error)
	turns    *turns // of the runs that may go on at the same time
	ordered  bool   // events are run one after the other

	laterPlaces chan struct{}       // one for each event that waited and is worked on
	bytes       *semaphore.Weighted // of the events that are decoded
	handedOut   handedOut
	deliveries  sync.WaitGroup
}

// follow takes events as they come until ctx ends or the engine fails.
func (c *consumption) follow(ctx context.Context, b *sluice.Binding) error {
	consumer, err := c.queue.consumer(ctx, b)
	if err != nil {
		return err
	}
	// Whatever is stored by now may have been run before: by a process before
	// this one, or for a consumer that the engine has lost since.
	before, err := c.past(ctx)
	if err != nil {
		return err
	}
	count := uint64(0)
	messages, from, err := c.messages(ctx, consumer, b)
	if err != nil {
		return err
	}
	// What has been delivered by then is given back: otherwise the engine would
	// wait for acknowledgements before it delivers it again.
	stop := context.AfterFunc(ctx, messages.Drain)
	defer stop()
	defer messages.Stop()
	for {
		msg, err := messages.Next()
		if err != nil {
			return err
		}
		if from != c.queue.host.Conn {
			msg = &delivered{msg, c.queue.host.Conn}
		}
		w, ok := c.begin(ctx, msg)
		if !ok {
			continue
		}
		if w.meta != nil {
			if w.meta.Sequence.Consumer <= count { // it is another consumer of the same name
				if before, err = c.past(ctx); err != nil {
					c.end(w)
					return err
				}
			}
			count = w.meta.Sequence.Consumer
		}
		w.before = before
		if b.Concurrency == 1 {
			c.deliver(ctx, w)
			continue
		}
		c.deliveries.Add(1)
		c.queue.crew.do(func() {
			defer c.deliveries.Done()
			c.deliver(ctx, w)
		})
	}
}

// begin begins to work on an event as soon as there is memory for it as it is
// stored: until then further ones stay in the stream. It is not ok if somebody
// works on it already.
func (c *consumption) begin(ctx context.Context, msg jetstream.Msg) (p piece, ok bool) {
	p.Msg = msg
	p.meta, _ = msg.Metadata() // otherwise it is found to be unreadable
	if !c.handedOut.enter(p.sequence()) {
		return p, false
	}
	c.queue.work.begin(msg)
	p.size, _ = c.queue.memory.stored.acquire(ctx, len(msg.Data())) // it is given back when the pipeline stops
	return p, true
}

// end ends the work on an event.
func (c *consumption) end(p piece) {
	c.queue.memory.stored.release(p.size)
	c.queue.work.end(p.Msg)
	c.handedOut.leave(p.sequence())
}

// deliver runs the pipeline for one event as soon as it has its turn, and tells
// the engine what came of it. An event that waits is not decoded: it takes the
// least memory so.
func (c *consumption) deliver(ctx context.Context, msg piece) {
	defer c.end(msg)
	done, err := c.attempt(ctx, &msg)
	for err == nil && done != nil && done.retried() && c.holds() {
		if err = c.hold(ctx, &msg, done); err == nil {
			done, err = c.attempt(ctx, &msg)
		}
	}
	if done != nil && done.stored != nil {
		defer done.stored()
	}
	switch {
	case err != nil || done == nil:
	case done.retried():
		err = c.postpone(msg, done)
	default:
		err = c.settle(msg, done)
	}
	c.tell(ctx, msg, done, err)
}

// tell tells the engine what came of an event.
func (c *consumption) tell(ctx context.Context, msg piece, done *finished, err error) {
	switch {
	case err == nil:
		_ = msg.Ack() // otherwise it is delivered again, and its outcome is found
	case errors.Is(err, errUnreadable):
		c.refuse(msg, err)
	case errors.Is(err, errNoTurn):
		c.redeliver(msg, 0)
	case ctx.Err() != nil:
		c.redeliver(msg, consumeRetry) // stopping is not a failure
	default:
		c.queue.host.Log.Warn("An event will be delivered to its pipeline again.", "pipeline", c.pipeline, "error", err)
		c.redeliver(msg, c.pause(done))
	}
}

// pause returns how long an event that could not be let wait stays with the engine. One
// that was just tried has nothing stored that would keep it from being tried at once,
// so it stays until it is due. One whose time is stored comes earlier, to have the clock
// looked at again.
func (c *consumption) pause(done *finished) time.Duration {
	if done == nil || !done.retried() {
		return consumeRetry
	}
	wait := max(consumeRetry, done.outcome.Next.Sub(c.queue.waiting.now()))
	if done.before {
		wait = min(wait, lookAgain)
	}
	return wait
}

// errNoTurn is the error of an event that had no turn before the pipeline stopped.
var errNoTurn = errors.New("no turn")

// attempt runs the pipeline for an event once, when it has its turn. A replay
// that would keep others waiting waits itself.
func (c *consumption) attempt(ctx context.Context, msg *piece) (*finished, error) {
	if !c.turns.tryTake() {
		if gaveWay, err := c.givesWay(ctx, msg); gaveWay {
			return nil, err
		}
		if c.turns.take(ctx, false) != nil {
			return nil, errNoTurn
		}
	}
	defer c.turns.give(false)
	release, err := c.decoding(ctx, msg.Data())
	if err != nil {
		return nil, errNoTurn
	}
	defer release()
	return c.runOnce(ctx, msg)
}

// settle stores what came of an event for good.
func (c *consumption) settle(msg piece, done *finished) error {
	if err := c.queue.settle(done, msg.Data()); err != nil {
		return err
	}
	if msg.state != nil || done.Count > 1 { // a process before this one may have begun to let it wait
		c.queue.waiting.drop(context.Background(), c.binding, c.key(done))
	}
	return nil
}

// maxUnreadable is how much of an event that can't be read its dead letter has.
const maxUnreadable = 64 << 10

// refuse makes a dead letter of an event that can't be read, now or ever.
func (c *consumption) refuse(msg piece, cause error) {
	q := c.queue
	q.host.Log.Error("A stored event can't be read; it becomes a dead letter.", "pipeline", c.pipeline, "error", cause)
	d, _ := q.delivery(msg.stored())
	shown := problem.Of(sluice.Errorf(sluice.CodeEventUnreadable, "The event is no JSON object within the limits; a program that publishes to the engine has sent it.").InCall(d.TraceID))
	f := &finished{Delivery: d, sequence: msg.sequence(), outcome: sluice.Outcome{
		Pipeline: c.pipeline, Status: sluice.StatusError, StatusCode: shown.StatusCode, Error: shown, Attempts: 1, Finished: time.Now().UTC(),
	}}
	beginning := msg.Data()[:min(len(msg.Data()), maxUnreadable)]
	text, err := json.Marshal(strings.ToValidUTF8(string(beginning), "\uFFFD"))
	if err == nil {
		err = q.settle(f, text)
	}
	if err != nil {
		c.redeliver(msg, consumeRetry)
		return
	}
	q.unreadable.Add(1)
	_ = msg.Term() // otherwise it comes again
}

// decoding waits for the memory to decode an event.
func (c *consumption) decoding(ctx context.Context, event []byte) (release func(), err error) {
	weight := int64(min(len(event), sluice.MaxRunBytes))
	if err := c.bytes.Acquire(ctx, weight); err != nil {
		return nil, err
	}
	decoded, err := c.queue.memory.decoded.acquire(ctx, footprint(event))
	if err != nil {
		c.bytes.Release(weight)
		return nil, err
	}
	return func() {
		c.queue.memory.decoded.release(decoded)
		c.bytes.Release(weight)
	}, nil
}

// redeliver makes the engine deliver an event once more.
func (c *consumption) redeliver(msg piece, after time.Duration) {
	_ = msg.NakWithDelay(after) // if this fails, it is delivered again after ackWait
}

// finished is a run that has ended: an event and what the pipeline has made of
// it.
type finished struct {
	sluice.Delivery
	sequence uint64
	outcome  sluice.Outcome
	before   bool      // it was run, and the outcome stored, by an earlier delivery
	began    time.Time // the attempt
	waits    string    // the node whose caller waits, "" if none does

	stored func() // says that it takes no memory any more; nil: it took none
}

// retried reports whether another attempt is to follow.
func (f *finished) retried() bool { return f.outcome.Status == sluice.StatusProcessing }

// runOnce runs the pipeline for an event, unless that was done before. It returns
// nil if there is nothing left to do.
func (c *consumption) runOnce(ctx context.Context, msg *piece) (*finished, error) {
	d, err := c.queue.delivery(msg.stored())
	if err != nil {
		return nil, err
	}
	sequence := msg.sequence()
	if sequence <= msg.before.done {
		return nil, nil
	}
	if msg.state == nil && c.mayHaveRun(msg) {
		done, err := c.queue.outcomes.Get(ctx, sequence, d.TraceID, c.pipeline)
		if err != nil {
			return nil, err
		}
		if done != nil {
			return &finished{Delivery: d, sequence: sequence, outcome: *done, before: true}, nil
		}
		if msg.state, err = c.queue.waiting.find(ctx, c.binding, c.queue.waiting.key(sequence, d.TraceID)); err != nil {
			return nil, err
		}
		switch s := msg.state; {
		case s == nil:
		case !s.Held:
			msg.state = nil
			return nil, nil // it waits elsewhere
		case c.queue.waiting.left(s.Due) > 0:
			d.First = s.First
			return &finished{Delivery: d, sequence: sequence, outcome: sluice.Outcome{Status: sluice.StatusProcessing, Attempts: s.Attempts, Next: s.Due}, before: true}, nil
		}
	}
	return c.runFrom(d, msg.stored(), msg.state)
}

// mayHaveRun reports whether an event may have been run by an earlier delivery.
func (c *consumption) mayHaveRun(msg *piece) bool {
	return msg.meta.NumDelivered > 1 || msg.sequence() <= msg.before.stored
}

// runFrom runs the pipeline for an event that has come so far.
func (c *consumption) runFrom(d sluice.Delivery, e storedEvent, s *state) (*finished, error) {
	began := time.Now().UTC()
	if s != nil {
		d.Attempts, d.First = s.Attempts, s.First
	}
	outcome, err := c.run(d)
	if err != nil {
		return nil, err
	}
	f := &finished{Delivery: d, sequence: e.sequence, outcome: outcome, began: began, waits: e.Waits}
	f.stored = c.queue.memory.settling(f) // still in the slot: no other run makes one meanwhile
	return f, nil
}
