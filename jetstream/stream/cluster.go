package stream

import (
	"context"
	"math"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// clusterTimeout bounds one attempt to store a message on an external engine.
// Senders wait 3 to 5 seconds in all.
const clusterTimeout = 1200 * time.Millisecond

// clusterWriter stores messages on an external engine, which acknowledges each.
type clusterWriter struct {
	js     jetstream.JetStream
	stream string
}

// Write implements Writer. An unanswered attempt is made again with the same
// id, so that the engine stores the message once.
func (w *clusterWriter) Write(ctx context.Context, subject, id string, data []byte) (uint64, error) {
	msg := &nats.Msg{Subject: subject, Data: data, Header: nats.Header{}}
	ctx = context.WithoutCancel(ctx)
	ack, err := w.publish(ctx, msg, id)
	if err != nil {
		ack, err = w.publish(ctx, msg, id)
	}
	if err != nil {
		return 0, NotTaken("the event", err)
	}
	return ack.Sequence, nil
}

func (w *clusterWriter) publish(ctx context.Context, msg *nats.Msg, id string) (*jetstream.PubAck, error) {
	ctx, cancel := context.WithTimeout(ctx, clusterTimeout)
	defer cancel()
	return w.js.PublishMsg(ctx, msg, jetstream.WithMsgID(id), jetstream.WithExpectStream(w.stream))
}

// Durable implements Writer: what can be read from an external engine is
// durable.
func (w *clusterWriter) Durable() uint64 { return math.MaxUint64 }
