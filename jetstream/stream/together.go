package stream

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// ExpectLast lets a message be stored on condition that the newest one of its
// subject is that with a sequence; 0: that there is none.
func ExpectLast(msg *nats.Msg, sequence uint64) *nats.Msg {
	msg.Header = nats.Header{jetstream.ExpectedLastSubjSeqHeader: {strconv.FormatUint(sequence, 10)}}
	return msg
}

// StoreTogether stores messages of one stream of an external engine, all or none
// of them, and gives the sequence of the last one: those before it follow each
// other. After an error they may be stored all the same, unless it is an APIError.
func (h *Host) StoreTogether(ctx context.Context, messages []*nats.Msg) (sequence uint64, err error) {
	batch := uuid.NewString()
	for i, msg := range messages {
		if msg.Header == nil {
			msg.Header = nats.Header{}
		}
		msg.Header.Set("Nats-Batch-Id", batch)
		msg.Header.Set("Nats-Batch-Sequence", strconv.Itoa(i+1))
	}
	last := messages[len(messages)-1]
	last.Header.Set("Nats-Batch-Commit", "1")
	for _, msg := range messages[:len(messages)-1] {
		if err := h.Conn.PublishMsg(msg); err != nil {
			return 0, err
		}
	}
	reply, err := h.Conn.RequestMsgWithContext(ctx, last)
	if err != nil {
		return 0, err
	}
	var ack struct {
		Sequence uint64              `json:"seq"`
		Error    *jetstream.APIError `json:"error"`
	}
	if err := json.Unmarshal(reply.Data, &ack); err != nil {
		return 0, err
	}
	if ack.Error != nil {
		return 0, ack.Error
	}
	return ack.Sequence, nil
}
