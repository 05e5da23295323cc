package stream

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/stretch"
)

// attempt sends messages once and waits for the acknowledgement of the last one. After an
// error, answered says that this attempt has certainly stored none.
func (w *clusterWriter) attempt(
	ctx context.Context, id string, batch []*publication,
) (last uint64, answered bool, err error) {
	// While the client library connects, it holds messages back, however long that takes.
	if !w.host.Link.connected() {
		return 0, true, nats.ErrDisconnected
	}
	within := min(stretch.Of(ackWithin), time.Until(batch[0].until))
	if within <= 0 {
		return 0, true, errUnsent
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	conn := w.way.conn()
	ack, err := storeTogether(ctx, conn, w.messages(id, batch))
	if isDuplicate(err) {
		// An earlier attempt has stored them. The first message has the id, so the
		// engine does not store it again, and replies with its sequence.
		if ack, err = storeTogether(ctx, conn, w.messages(id, batch[:1])); err == nil && !ack.Duplicate {
			return 0, false, errors.New("the engine has forgotten a batch that it knew")
		}
	}
	if err != nil {
		_, refused := errors.AsType[*jetstream.APIError](err)
		if refused = refused || errors.Is(err, nats.ErrNoResponders); !refused {
			w.way.leave(conn)
		}
		return 0, refused, err
	}
	if ack.Duplicate {
		return ack.Sequence + uint64(len(batch)-1), true, nil // the acknowledged one is the first
	}
	return ack.Sequence, true, nil
}

// messages makes the messages of a batch. The first one has the id of the batch.
func (w *clusterWriter) messages(id string, batch []*publication) []*nats.Msg {
	messages := make([]*nats.Msg, len(batch))
	for i, p := range batch {
		messages[i] = &nats.Msg{Subject: p.subject, Data: p.data, Header: maps.Clone(p.header)}
	}
	w.identify(messages[0], id)
	return messages
}

// identify gives a message the id of a batch.
func (w *clusterWriter) identify(msg *nats.Msg, id string) *nats.Msg {
	if msg.Header == nil {
		msg.Header = make(nats.Header)
	}
	msg.Header[jetstream.MsgIDHeader] = []string{id}
	msg.Header[jetstream.ExpectedStreamHeader] = []string{w.stream}
	return msg
}
