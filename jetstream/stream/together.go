package stream

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/stretch"
)

// ExpectLast lets the engine store a message only if the newest one of its subject has that
// sequence; 0: only if there is none.
func ExpectLast(msg *nats.Msg, sequence uint64) *nats.Msg {
	msg.Header = nats.Header{jetstream.ExpectedLastSubjSeqHeader: {strconv.FormatUint(sequence, 10)}}
	return msg
}

// StoreTogether stores all or none of the messages in one stream of an external engine, one
// right behind the other, and returns the sequence of the last one. After an error they may
// be stored, unless it is an APIError.
func (h *Host) StoreTogether(ctx context.Context, messages []*nats.Msg) (sequence uint64, err error) {
	ack, err := storeTogether(ctx, h.Conn, h.sealAll(messages))
	return ack.Sequence, err
}

// WriteTogether implements Writer.
func (w *clusterWriter) WriteTogether(ctx context.Context, messages []*nats.Msg) (uint64, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stretch.Of(clusterTimeout))
	defer cancel()
	ack, err := storeTogether(ctx, w.host.Conn, messages)
	w.report(err)
	return ack.Sequence, err
}

// An acknowledgement is the engine's reply about messages that it was sent.
type acknowledgement struct {
	Sequence  uint64              `json:"seq"` // of the last one
	Duplicate bool                `json:"duplicate"`
	Error     *jetstream.APIError `json:"error"`
}

func storeTogether(ctx context.Context, conn *nats.Conn, messages []*nats.Msg) (ack acknowledgement, err error) {
	last := messages[len(messages)-1]
	if len(messages) > 1 {
		number(messages)
	}
	for _, msg := range messages[:len(messages)-1] {
		if err := conn.PublishMsg(msg); err != nil {
			return ack, err
		}
	}
	reply, err := conn.RequestMsgWithContext(ctx, last)
	if err != nil {
		return ack, err
	}
	if err := json.Unmarshal(reply.Data, &ack); err != nil {
		return ack, err
	}
	if ack.Error != nil {
		return ack, ack.Error
	}
	return ack, nil
}

// number gives messages their numbers in a batch, which the last one ends.
func number(messages []*nats.Msg) {
	batch := rand.Text()[:16] // unique among the batches under way
	for i, msg := range messages {
		if msg.Header == nil {
			msg.Header = make(nats.Header, 2)
		}
		msg.Header["Nats-Batch-Id"] = []string{batch}
		msg.Header["Nats-Batch-Sequence"] = []string{strconv.Itoa(i + 1)}
	}
	messages[len(messages)-1].Header["Nats-Batch-Commit"] = []string{"1"}
}

// blamesOne reports whether the engine refuses a batch because of one message, so that it
// may take the others. An engine that takes no writes, or has changed its leader since the
// first message, refuses any batch.
func blamesOne(err error) bool {
	const incomplete = 10176
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && api.Code == http.StatusBadRequest && api.ErrorCode != incomplete
}

// isDuplicate reports whether the engine refuses a batch because it knows the id of one of
// its messages.
func isDuplicate(err error) bool {
	const containsDuplicate = 10201
	return codeOf(err) == containsDuplicate
}

// Pending has messages that are being stored, many at a time.
type Pending struct{ acks []jetstream.PubAckFuture }

// Add adds a message, and waits for those before it if there are too many.
func (p *Pending) Add(ctx context.Context, js jetstream.JetStream, msg *nats.Msg) error {
	const most = 256
	ack, err := js.PublishMsgAsync(msg)
	if err != nil {
		return err
	}
	if p.acks = append(p.acks, ack); len(p.acks) == most {
		return p.Wait(ctx)
	}
	return nil
}

// Wait returns when all messages are stored.
func (p *Pending) Wait(ctx context.Context) error {
	for _, ack := range p.acks {
		select {
		case <-ack.Ok():
		case err := <-ack.Err():
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	p.acks = p.acks[:0]
	return nil
}
