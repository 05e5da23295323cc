package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/semaphore"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/problem"
	"sluice/value"
)

// A consumption hands the events of one pipeline to its runs, within the bounds of
// sluice.Deliveries.
type consumption struct {
	queue      *Queue
	pipeline   string
	binding    string
	run        func(sluice.Delivery) (sluice.Outcome, error)
	slots      chan struct{}       // one for each run that may go on at the same time
	bytes      *semaphore.Weighted // of the events that are decoded
	handedOut  handedOut
	deliveries sync.WaitGroup
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
	messages, err := consumer.Messages(jetstream.PullMaxMessagesWithBytesLimit(sluice.Deliveries(b.Concurrency), prefetched), jetstream.PullHeartbeat(pullHeartbeat))
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

// A piece of work is an event that is handed out, and where it stands.
type piece struct {
	jetstream.Msg

	meta *jetstream.MsgMetadata // nil: it can't be read
	size int64                  // that it takes as it is stored

	before past // what may have been done with events before
}

// sequence returns the event's place in the stream.
func (p piece) sequence() uint64 {
	if p.meta == nil {
		return 0
	}
	return p.meta.Sequence.Stream
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

// deliver runs the pipeline for one event as soon as there is a free slot, and
// tells the engine what came of it. An event that waits is not decoded: it takes
// the least memory so.
func (c *consumption) deliver(ctx context.Context, msg piece) {
	defer c.end(msg)
	leave, err := c.enter(ctx, msg.Data())
	if err != nil {
		c.redeliver(msg, 0)
		return
	}
	done, err := c.runOnce(ctx, msg)
	defer c.queue.memory.settling(done)() // in the slot: no other run makes one meanwhile
	leave()
	if err == nil && done != nil {
		err = c.queue.settle(done, msg.Data())
	}
	switch {
	case err == nil:
		_ = msg.Ack() // otherwise it is delivered again, and its outcome is found
	case errors.Is(err, errUnreadable):
		c.refuse(msg, err)
	case ctx.Err() != nil:
		c.redeliver(msg, consumeRetry) // stopping is not a failure
	default:
		c.queue.host.Log.Warn("An event will be delivered to its pipeline again.", "pipeline", c.pipeline, "error", err)
		c.redeliver(msg, consumeRetry)
	}
}

// maxUnreadable is how much of an event that can't be read its dead letter has.
const maxUnreadable = 64 << 10

// refuse makes a dead letter of an event that can't be read, now or ever.
func (c *consumption) refuse(msg piece, cause error) {
	q := c.queue
	q.host.Log.Error("A stored event can't be read; it becomes a dead letter.", "pipeline", c.pipeline, "error", cause)
	d, sequence, _ := q.delivery(msg)
	shown := problem.Of(sluice.Errorf(sluice.Invalid, "event-unreadable", "The event is no JSON object within the limits; a program that publishes to the engine has sent it.").InCall(d.TraceID))
	f := &finished{Delivery: d, sequence: sequence, outcome: sluice.Outcome{
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

// enter waits for a slot, and for the memory to decode an event.
func (c *consumption) enter(ctx context.Context, event []byte) (leave func(), err error) {
	select {
	case c.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	weight := int64(min(len(event), sluice.MaxRunBytes))
	if err := c.bytes.Acquire(ctx, weight); err != nil {
		<-c.slots
		return nil, err
	}
	decoded, err := c.queue.memory.decoded.acquire(ctx, footprint(event))
	if err != nil {
		c.bytes.Release(weight)
		<-c.slots
		return nil, err
	}
	return func() {
		c.queue.memory.decoded.release(decoded)
		c.bytes.Release(weight)
		<-c.slots
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
	before   bool // it was run, and the outcome stored, by an earlier delivery
}

// runOnce runs the pipeline for an event, unless that was done before. It returns
// nil if there is nothing left to do.
func (c *consumption) runOnce(ctx context.Context, msg piece) (*finished, error) {
	d, sequence, err := c.queue.delivery(msg)
	if err != nil {
		return nil, err
	}
	if sequence <= msg.before.done {
		return nil, nil
	}
	if d.Count > 1 || sequence <= msg.before.stored {
		done, err := c.queue.outcomes.Get(ctx, sequence, d.TraceID, c.pipeline)
		if err != nil {
			return nil, err
		}
		if done != nil {
			return &finished{d, sequence, *done, true}, nil
		}
	}
	outcome, err := c.run(d)
	if err != nil {
		return nil, err
	}
	return &finished{d, sequence, outcome, false}, nil
}

// past is what may have been done with events before.
type past struct {
	done   uint64 // all up to this sequence were run
	stored uint64 // those up to this one may have been, and then have an outcome
}

func (c *consumption) past(ctx context.Context) (past, error) {
	info, err := c.queue.events.Info(ctx)
	if err != nil {
		return past{}, err
	}
	before := past{stored: info.State.LastSeq}
	// A floor above all events is about ones that a disk has lost since.
	if floor := c.queue.floors.Of(c.binding); floor <= before.stored {
		before.done = floor
	}
	return before, nil
}

// errUnreadable is the error of an event that can't be decoded, now or ever.
var errUnreadable = errors.New("unreadable event")

// delivery returns a message as a delivery.
func (q *Queue) delivery(msg piece) (d sluice.Delivery, sequence uint64, err error) {
	meta := msg.meta
	if meta == nil {
		return d, 0, errUnreadable
	}
	sequence = meta.Sequence.Stream
	d = sluice.Delivery{Count: int(meta.NumDelivered), TraceID: sluice.ForeignTraceID(meta.Timestamp, sequence)}
	d.CorrelationID = q.ids.ID(sequence, d.TraceID)
	message, err := value.DecodeObject(msg.Data())
	if err != nil {
		return d, sequence, fmt.Errorf("%w %d: %w", errUnreadable, sequence, err)
	}
	d.Message = message
	if traceID, _ := message["traceId"].(string); sluice.ValidTraceID(traceID) {
		d.TraceID = strings.Clone(traceID) // it is kept longer than the event
		d.CorrelationID = q.ids.ID(sequence, d.TraceID)
	}
	complete(message, msg.Subject(), d.TraceID, meta.Timestamp)
	d.Hops, _ = message["hops"].(int)
	d.Hops = max(0, d.Hops)
	if given, _ := message["correlationId"].(string); !q.ids.WasSpooled(given, d.TraceID) {
		message["correlationId"] = d.CorrelationID
	}
	message["deliveryCount"] = d.Count
	return d, sequence, nil
}

// complete gives an event what a foreign program may have left out or written
// differently.
func complete(message map[string]any, subject, traceID string, stored time.Time) {
	message["traceId"] = traceID
	eventKey, _ := message["eventKey"].(string)
	key, _ := message["key"].(string)
	onEvent, onKey := correlation.KeysOf(subject, eventKey, key)
	if onEvent != eventKey {
		message["eventKey"] = onEvent
	}
	if onKey != key {
		message["key"] = onKey
	}
	if received, _ := message["receivedAt"].(string); received == "" {
		message["receivedAt"] = stored.UTC().Format(time.RFC3339Nano)
	}
}

// settle stores an outcome, and a dead letter if it is a failure. They are on
// stable storage before the event is acknowledged: otherwise a power cut could
// keep the acknowledgement and lose the outcome.
func (q *Queue) settle(f *finished, event []byte) error {
	// Not the run's context: what was done is stored even while the server
	// stops. Writers have time-outs of their own.
	ctx := context.Background()
	failed := f.outcome.Status == sluice.StatusError
	if f.before {
		if !failed {
			return nil
		}
		return q.deadLetters.addMissing(ctx, f.Delivery, event, f.outcome)
	}
	// The outcome comes first: without one the event is run again, and a letter
	// would be left behind if it went well then.
	if err := q.outcomes.store(ctx, f.sequence, f.TraceID, f.outcome); err != nil {
		return err
	}
	if failed {
		if err := q.deadLetters.add(ctx, f.Delivery, event, f.outcome); err != nil {
			return err
		}
	}
	if err := q.outcomes.tell(f.sequence, f.TraceID, f.outcome); err != nil {
		return err
	}
	q.settled(f.sequence, f.TraceID, f.outcome)
	if f.outcome.Status == sluice.StatusError && q.Failed != nil {
		key, _ := f.Message["eventKey"].(string)
		q.Failed(key)
	}
	return nil
}
