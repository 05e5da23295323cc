package queue

import (
	"context"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
)

// messages begins to take the events of a consumer, straight from the server that
// leads it.
func (c *consumption) messages(ctx context.Context, consumer jetstream.Consumer, b *sluice.Binding) (messages jetstream.MessagesContext, from *nats.Conn, err error) {
	host := c.queue.host
	from = host.Conn
	if cluster := consumer.CachedInfo().Cluster; cluster != nil {
		from = host.Near(cluster.Leader)
	}
	if from != host.Conn {
		js, err := jetstream.New(from)
		if err != nil {
			return nil, nil, err
		}
		if consumer, err = js.Consumer(ctx, c.queue.events.CachedInfo().Config.Name, b.ID); err != nil {
			return nil, nil, err
		}
	}
	messages, err = consumer.Messages(jetstream.PullMaxMessagesWithBytesLimit(sluice.Deliveries(b.Concurrency), prefetched), jetstream.PullHeartbeat(pullHeartbeat))
	return messages, from, err
}

// delivered is an event that came from the server which leads its consumer. Only its
// acknowledgement goes back there: the node's own connection is the one that is
// watched, and made again.
type delivered struct {
	jetstream.Msg

	own *nats.Conn
}

// InProgress implements jetstream.Msg.
func (d *delivered) InProgress() error { return d.own.Publish(d.Reply(), []byte("+WPI")) }
