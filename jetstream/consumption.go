package jetstream

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

// maxOpen bounds the bytes of events that the runs of one pipeline have open at
// the same time. As values an event takes up to twenty times as much memory.
const maxOpen = 16 << 20

// A consumption hands the events of one pipeline to its runs.
type consumption struct {
	queue      *Queue
	pipeline   string
	binding    string
	run        func(sluice.Delivery) (sluice.Outcome, error)
	slots      chan struct{}       // as many as runs may go on at the same time
	open       *semaphore.Weighted // bytes of events that are open
	deliveries sync.WaitGroup
}

// follow takes events as they come until ctx ends or the engine fails.
func (c *consumption) follow(ctx context.Context, b *sluice.Binding) error {
	consumer, err := c.queue.consumer(ctx, b)
	if err != nil {
		return err
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessages(deliveredAtOnce(b.Concurrency)), jetstream.PullHeartbeat(pullHeartbeat))
	if err != nil {
		return err
	}
	// What has been delivered by then is given back: else the engine would wait
	// for it before it delivers it again.
	stop := context.AfterFunc(ctx, messages.Drain)
	defer stop()
	defer messages.Stop()
	for {
		msg, err := messages.Next()
		if err != nil {
			return err
		}
		if b.Concurrency == 1 {
			c.deliver(ctx, msg)
			continue
		}
		c.deliveries.Add(1)
		c.queue.crew.do(func() {
			defer c.deliveries.Done()
			c.deliver(ctx, msg)
		})
	}
}

// deliver runs the pipeline for one event as soon as there is a free slot, and
// tells the engine what came of it. An event that waits is not opened: it takes
// the least room so.
func (c *consumption) deliver(ctx context.Context, msg jetstream.Msg) {
	end := c.queue.work.begin(msg)
	defer end()
	leave, err := c.enter(ctx, len(msg.Data()))
	if err != nil {
		c.again(msg, 0)
		return
	}
	done, err := c.runOnce(ctx, msg)
	leave()
	if err == nil && done != nil {
		err = c.queue.settle(done, msg.Data())
	}
	switch {
	case err == nil:
		_ = msg.Ack() // else it is delivered again, and its outcome is found
	case errors.Is(err, errUnreadable):
		c.queue.engine.log.Error("A stored event can't be read; it is left out.", "pipeline", c.pipeline, "error", err)
		_ = msg.Term() // else it is found to be unreadable again
	case ctx.Err() != nil:
		c.again(msg, consumeAgain) // stopping is no failure
	default:
		c.queue.engine.log.Warn("An event will be delivered to its pipeline again.", "pipeline", c.pipeline, "error", err)
		c.again(msg, consumeAgain)
	}
}

// enter waits for a slot, and for room to open an event of that size.
func (c *consumption) enter(ctx context.Context, size int) (leave func(), err error) {
	select {
	case c.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	weight := int64(min(size, maxOpen))
	if err := c.open.Acquire(ctx, weight); err != nil {
		<-c.slots
		return nil, err
	}
	return func() {
		c.open.Release(weight)
		<-c.slots
	}, nil
}

// again lets the engine deliver an event once more.
func (c *consumption) again(msg jetstream.Msg, after time.Duration) {
	_ = msg.NakWithDelay(after) // else it is delivered again when nobody works on it
}

// A finished run is an event and what the pipeline has made of it.
type finished struct {
	sluice.Delivery

	sequence uint64
	outcome  sluice.Outcome
}

// runOnce runs the pipeline for an event, unless that was done before: then it
// gives nil.
func (c *consumption) runOnce(ctx context.Context, msg jetstream.Msg) (*finished, error) {
	d, sequence, err := c.queue.open(msg)
	if err != nil {
		return nil, err
	}
	// One that an earlier process was handed may have been run by it, even if
	// the engine does not remember.
	inherited := sequence <= c.queue.engine.events.inherited
	if inherited && sequence <= c.queue.floorOf(c.binding) {
		return nil, nil
	}
	if d.Count > 1 || inherited {
		done, err := c.queue.engine.events.outcomes.get(ctx, sequence, d.TraceID, c.pipeline)
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

// errUnreadable is the error of an event that can't be opened, now or ever.
var errUnreadable = errors.New("unreadable event")

// open gives a message as a delivery.
func (q *Queue) open(msg jetstream.Msg) (d sluice.Delivery, sequence uint64, err error) {
	meta, err := msg.Metadata()
	if err != nil {
		return d, 0, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	message, err := value.DecodeObject(msg.Data())
	if err != nil {
		return d, 0, fmt.Errorf("%w %d: %w", errUnreadable, meta.Sequence.Stream, err)
	}
	d = sluice.Delivery{Message: message, Count: int(meta.NumDelivered)}
	traceID, _ := message["traceId"].(string)
	d.TraceID = strings.Clone(traceID) // it is kept longer than the event
	d.Hops, _ = message["hops"].(int)
	d.CorrelationID = q.engine.events.ids.id(meta.Sequence.Stream, d.TraceID)
	message["correlationId"] = d.CorrelationID
	message["deliveryCount"] = d.Count
	return d, meta.Sequence.Stream, nil
}

// settle stores an outcome, and a dead letter if it is a failure. They are on
// stable storage before the engine is told that the event is done with: else a
// power cut could keep the acknowledgement and lose the outcome.
func (q *Queue) settle(f *finished, event []byte) error {
	// Not the run's context: what was done is written down, also on the way
	// out. Writers have bounds of their own.
	ctx := context.Background()
	if f.outcome.Status == sluice.StatusError {
		if err := q.engine.letters.add(ctx, f.Delivery, event, f.outcome); err != nil {
			return err
		}
	}
	if err := q.engine.events.outcomes.put(ctx, f.sequence, f.TraceID, f.outcome); err != nil {
		return err
	}
	q.engine.journal.settled(f.sequence, f.TraceID, f.outcome)
	return nil
}

// inProgress tells the engine of the events that are worked on, so that it does
// not deliver them again.
type inProgress struct {
	mu   sync.Mutex
	msgs map[jetstream.Msg]time.Time // since when
}

// begin says that an event is worked on, until end is called.
func (w *inProgress) begin(msg jetstream.Msg) (end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.msgs[msg] = time.Now()
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.msgs, msg)
	}
}

// beat tells the engine again and again, until ctx ends.
func (w *inProgress) beat(ctx context.Context) {
	every(ctx, heartbeat, func(now time.Time) {
		w.mu.Lock()
		defer w.mu.Unlock()
		for msg, since := range w.msgs {
			if now.Sub(since) >= heartbeat {
				_ = msg.InProgress() // else the event may be delivered again
			}
		}
	})
}
