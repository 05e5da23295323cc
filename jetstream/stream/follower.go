package stream

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/wait"
)

// FollowPause is the pause before a stream or a bucket is followed again.
const FollowPause = time.Second

// A Follower reads the messages of a stream in order, from the first one on, and then waits
// for new ones. The client library gives up if the engine goes away at the wrong moment; a
// follower doesn't.
type Follower struct {
	Pending uint64 // messages there were when it began

	host     *Host
	stream   jetstream.Stream
	config   jetstream.OrderedConsumerConfig
	messages jetstream.MessagesContext
	last     uint64 // sequence that was read
}

func (f *Follower) begin(ctx context.Context) error {
	if f.last > 0 {
		f.config.DeliverPolicy, f.config.OptStartSeq = jetstream.DeliverByStartSequencePolicy, f.last+1
	}
	consumer, err := f.stream.OrderedConsumer(ctx, f.config)
	if err != nil {
		return err
	}
	f.Pending = consumer.CachedInfo().NumPending
	messages, err := consumer.Messages()
	if err == nil {
		f.messages = messages
	}
	return err
}

// Next waits for the next message until ctx ends, which ends the follower.
func (f *Follower) Next(ctx context.Context) (jetstream.Msg, *jetstream.MsgMetadata, error) {
	for {
		release := context.AfterFunc(ctx, f.messages.Stop)
		msg, err := f.messages.Next()
		release()
		if err == nil {
			meta, err := msg.Metadata()
			if err != nil {
				return nil, nil, err
			}
			f.last = meta.Sequence.Stream
			return opened{msg, f.host.Open(msg.Subject(), msg.Data())}, meta, nil
		}
		for ended := true; ended; ended = f.begin(ctx) != nil {
			f.messages.Stop()
			if wait.For(ctx, FollowPause) != nil {
				return nil, nil, ctx.Err()
			}
		}
	}
}

// Stop ends the follower.
func (f *Follower) Stop() { f.messages.Stop() }

// Follow begins to follow a stream.
func (h *Host) Follow(
	ctx context.Context, s jetstream.Stream, config jetstream.OrderedConsumerConfig,
) (*Follower, error) {
	f := &Follower{host: h, stream: s, config: config}
	return f, f.begin(ctx)
}
