package queue

import (
	"context"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
)

const (
	// ackWait is the usual Options.AckWait.
	ackWait = 4 * time.Second
	// heartbeat is how often the engine is told that an event is in progress.
	heartbeat = time.Second
	// pullHeartbeat is how often the engine signals a consumer without events.
	// When two are missed, as in a change of leaders, events are requested
	// again.
	pullHeartbeat = 5 * time.Second
)

// consumer makes the consumer of a binding, or gives it the binding's settings.
func (q *Queue) consumer(ctx context.Context, b *sluice.Binding) (jetstream.Consumer, error) {
	return q.events.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
		Durable:        b.ID,
		DeliverPolicy:  jetstream.DeliverByStartSequencePolicy,
		OptStartSeq:    b.Start,
		FilterSubjects: append(subjectsOf(b.Pattern), stream.DirectPrefix+b.ID),
		AckPolicy:      jetstream.AckExplicitPolicy,
		AckWait:        q.AckWait,
		MaxAckPending:  b.Deliveries(),
	})
}

// follow delivers events as they come until ctx ends or the engine fails.
func (c *consumption) follow(ctx context.Context, b *sluice.Binding) error {
	consumer, err := c.queue.consumer(ctx, b)
	if err != nil {
		return err
	}
	// Events that are stored by now may have been run before: by an earlier process,
	// or for a consumer that the engine has lost since.
	before, err := c.past(ctx)
	if err != nil {
		return err
	}
	handedOut, err := c.restart(ctx, consumer.CachedInfo())
	if err != nil {
		return err
	}
	count := uint64(0)
	messages, own, err := c.messages(ctx, consumer, b)
	if err != nil {
		return err
	}
	// Drain lets the loop give back what was delivered: otherwise the engine waits for
	// acknowledgements before it delivers that again.
	stop := context.AfterFunc(ctx, messages.Drain)
	defer stop()
	defer messages.Stop()
	for {
		msg, err := messages.Next()
		if err != nil {
			return err
		}
		meta, _ := msg.Metadata() // without it the event is found to be unreadable
		if meta == nil {
			meta = new(jetstream.MsgMetadata)
		} else if meta.Sequence.Consumer <= count { // another consumer of the same name
			if before, err = c.past(ctx); err != nil {
				return err
			}
		}
		count = meta.Sequence.Consumer
		sequence := meta.Sequence.Stream
		if sequence > 0 && sequence <= before.done {
			_ = msg.Ack() // otherwise it comes again
			continue
		}
		l := &live{consumption: c, msg: msg, own: own}
		if d := l.begin(ctx, meta); d != nil {
			if sequence <= handedOut {
				d.Count++
			}
			d.doubtful = d.Count > 1 || sequence <= before.stored
			c.handOut(ctx, l, d)
		}
		if c.Place != nil {
			c.queue.Waiting.handedOut(c.binding, sequence, meta.NumPending)
		}
	}
}

// handOut lets an event arrive that the pipeline takes, and is done with any other.
func (c *consumption) handOut(ctx context.Context, l *live, d *delivery) {
	if c.takes(d) {
		c.arrive(ctx, d)
		return
	}
	l.ack()
	l.end(d)
}

// takes reports whether an event is of a kind that the pipeline takes, or was when it was stored.
func (c *consumption) takes(d *delivery) bool {
	if len(c.types) == 0 {
		return true
	}
	e, err := d.envelope()
	return err != nil || sluice.HasType(c.types, e.Type) || slices.Contains(e.Listeners, c.pipeline)
}

// messages begins to take the events of a consumer, from the server that leads it. If
// they come over another connection than the node's own, own is the node's own.
func (c *consumption) messages(
	ctx context.Context, consumer jetstream.Consumer, b *sluice.Binding,
) (messages jetstream.MessagesContext, own *nats.Conn, err error) {
	from := c.queue.host.Conn
	if cluster := consumer.CachedInfo().Cluster; cluster != nil {
		from = c.queue.host.Near(cluster.Leader)
	}
	if from != c.queue.host.Conn {
		own = c.queue.host.Conn
		js, err := jetstream.New(from)
		if err != nil {
			return nil, nil, err
		}
		if consumer, err = js.Consumer(ctx, c.queue.events.CachedInfo().Config.Name, b.ID); err != nil {
			return nil, nil, err
		}
	}
	messages, err = consumer.Messages(jetstream.PullMaxMessagesWithBytesLimit(b.Deliveries(), prefetched),
		jetstream.PullHeartbeat(pullHeartbeat))
	return messages, own, err
}

// past says which events may have been run before.
type past struct {
	done   uint64 // the events up to this one were run
	stored uint64 // the events up to this one may have been, and then have an outcome
}

func (c *consumption) past(ctx context.Context) (past, error) {
	info, err := c.queue.events.Info(ctx)
	if err != nil {
		return past{}, err
	}
	before := past{stored: info.State.LastSeq}
	// A mark above all events is about events that a disk has lost since.
	if mark := c.queue.LowWater.Of(c.binding); mark <= before.stored {
		before.done = mark
	}
	return before, nil
}
