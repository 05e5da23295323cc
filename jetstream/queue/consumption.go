package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/semaphore"

	"sluice"
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
	leave()
	if err == nil && done != nil {
		err = c.queue.settle(done, msg.Data())
	}
	switch {
	case err == nil:
		_ = msg.Ack() // otherwise it is delivered again, and its outcome is found
	case errors.Is(err, errUnreadable):
		c.queue.host.Log.Error("A stored event can't be read; it is left out.", "pipeline", c.pipeline, "error", err)
		_ = msg.Term() // otherwise it comes again
	case ctx.Err() != nil:
		c.redeliver(msg, consumeRetry) // stopping is not a failure
	default:
		c.queue.host.Log.Warn("An event will be delivered to its pipeline again.", "pipeline", c.pipeline, "error", err)
		c.redeliver(msg, consumeRetry)
	}
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
}

// runOnce runs the pipeline for an event, unless that was done before: then it
// returns nil.
func (c *consumption) runOnce(ctx context.Context, msg piece) (*finished, error) {
	d, sequence, err := c.queue.delivery(msg)
	if err != nil {
		return nil, err
	}
	// An event that an earlier process was handed may have been run by it, even
	// if the engine does not remember.
	inherited := sequence <= c.queue.inherited
	if inherited && sequence <= c.queue.floors.Of(c.binding) {
		return nil, nil
	}
	if d.Count > 1 || inherited {
		done, err := c.queue.outcomes.Get(ctx, sequence, d.TraceID, c.pipeline)
		if err != nil || done != nil {
			return nil, err
		}
	}
	outcome, err := c.run(d)
	if err != nil {
		return nil, err
	}
	return &finished{d, sequence, outcome}, nil
}

// errUnreadable is the error of an event that can't be decoded, now or ever.
var errUnreadable = errors.New("unreadable event")

// delivery returns a message as a delivery.
func (q *Queue) delivery(msg piece) (d sluice.Delivery, sequence uint64, err error) {
	meta := msg.meta
	if meta == nil {
		return d, 0, errUnreadable
	}
	message, err := value.DecodeObject(msg.Data())
	if err != nil {
		return d, 0, fmt.Errorf("%w %d: %w", errUnreadable, meta.Sequence.Stream, err)
	}
	d = sluice.Delivery{Message: message, Count: int(meta.NumDelivered)}
	traceID, _ := message["traceId"].(string)
	d.TraceID = strings.Clone(traceID) // it is kept longer than the event
	d.Hops, _ = message["hops"].(int)
	d.CorrelationID = q.ids.ID(meta.Sequence.Stream, d.TraceID)
	message["correlationId"] = d.CorrelationID
	message["deliveryCount"] = d.Count
	return d, meta.Sequence.Stream, nil
}

// settle stores an outcome, and a dead letter if it is a failure. They are on
// stable storage before the event is acknowledged: otherwise a power cut could
// keep the acknowledgement and lose the outcome.
func (q *Queue) settle(f *finished, event []byte) error {
	// Not the run's context: what was done is stored even while the server
	// stops. Writers have time-outs of their own.
	ctx := context.Background()
	if f.outcome.Status == sluice.StatusError {
		if err := q.deadLetters.add(ctx, f.Delivery, event, f.outcome); err != nil {
			return err
		}
	}
	if err := q.outcomes.Put(ctx, f.sequence, f.TraceID, f.outcome); err != nil {
		return err
	}
	q.settled(f.sequence, f.TraceID, f.outcome)
	if f.outcome.Status == sluice.StatusError && q.Failed != nil {
		key, _ := f.Message["eventKey"].(string)
		q.Failed(key)
	}
	return nil
}
