package stream

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/wait"
)

// followPause is the pause before a stream is followed again.
const followPause = time.Second

// A Follower reads the messages of a stream in order, from the first one on, and then waits
// for new ones. The client library gives up if the engine goes away at the wrong moment; a
// follower doesn't.
type Follower struct {
	Pending uint64 // messages that are still to come of those that were there when it began

	host     *Host
	stream   jetstream.Stream
	config   jetstream.OrderedConsumerConfig
	consumer jetstream.Consumer
	messages jetstream.MessagesContext
	last     jetstream.MsgMetadata // of the message that was read
}

func (f *Follower) begin(ctx context.Context) error {
	if last := f.last.Sequence.Stream; last > 0 {
		f.config.DeliverPolicy, f.config.OptStartSeq = jetstream.DeliverByStartSequencePolicy, last+1
	}
	consumer, err := f.stream.OrderedConsumer(ctx, f.config)
	if err != nil {
		return err
	}
	f.consumer, f.Pending = consumer, consumer.CachedInfo().NumPending
	messages, err := consumer.Messages()
	if err == nil {
		f.messages = messages
	}
	return err
}

// Next waits for the next message until ctx ends, which ends the follower. It returns none if all that
// were still to come have been removed meanwhile.
func (f *Follower) Next(ctx context.Context) (jetstream.Msg, *jetstream.MsgMetadata, error) {
	for {
		var limited []jetstream.NextOpt
		if f.Pending > 0 {
			limited = append(limited, jetstream.NextMaxWait(followPause))
		}
		release := context.AfterFunc(ctx, f.messages.Stop)
		msg, err := f.messages.Next(limited...)
		release()
		if err == nil {
			meta, err := msg.Metadata()
			if err != nil {
				return nil, nil, err
			}
			f.last, f.Pending = *meta, meta.NumPending
			return opened{msg, f.host.Open(msg.Subject(), msg.Data())}, meta, nil
		}
		if errors.Is(err, nats.ErrTimeout) && ctx.Err() == nil {
			info, err := f.consumer.Info(ctx)
			switch {
			case err == nil && f.removed(info):
				f.Pending = 0
				return nil, nil, nil
			case err == nil && info.NumWaiting > 0, err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound):
				continue
			}
			// The engine has lost what it was asked for. The library finds that out by heartbeats that are missing,
			// and waits for them anew in each call of Next.
		}
		if err := f.beginAgain(ctx); err != nil {
			return nil, nil, err
		}
	}
}

// beginAgain begins behind what was read, as soon as the engine lets it. If the connection is closed for good,
// the host fails, since what nodes know of each other would grow stale.
func (f *Follower) beginAgain(ctx context.Context) error {
	for {
		f.messages.Stop()
		if wait.For(ctx, followPause) != nil {
			return ctx.Err()
		}
		err := f.begin(ctx)
		if err == nil {
			return nil
		}
		if f.host.Conn.IsClosed() {
			f.host.Fail(errors.New("the engine reports no more changes"))
			return err
		}
		f.host.Log.Warn("Changes can't be followed; trying again.", "stream", f.stream.CachedInfo().Config.Name,
			"error", err)
	}
}

// removed reports whether the engine has nothing more for the follower, and nothing is on its way.
func (f *Follower) removed(info *jetstream.ConsumerInfo) bool {
	sent := info.Delivered.Consumer
	return info.NumPending == 0 && (sent == 0 || info.Name == f.last.Consumer && sent <= f.last.Sequence.Consumer)
}

// Stored visits the messages that were there when it began.
func (f *Follower) Stored(ctx context.Context, visit func(jetstream.Msg, *jetstream.MsgMetadata)) error {
	for f.Pending > 0 {
		msg, meta, err := f.Next(ctx)
		if err != nil {
			return err
		}
		if msg != nil {
			visit(msg, meta)
		}
	}
	return nil
}

// Visit visits all further messages until ctx ends.
func (f *Follower) Visit(ctx context.Context, visit func(jetstream.Msg, *jetstream.MsgMetadata)) {
	for {
		msg, meta, err := f.Next(ctx)
		if err != nil {
			return // the engine stops
		}
		if msg != nil {
			visit(msg, meta)
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
