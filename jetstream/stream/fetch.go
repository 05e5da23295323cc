package stream

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/value"
)

// A Range selects messages of a stream that allows direct reads: from a sequence or a time
// on, all of them or those of a subject. One request returns many.
type Range struct {
	Sequence uint64     `json:"seq,omitempty"`
	Subject  string     `json:"next_by_subj,omitempty"`
	Since    *time.Time `json:"start_time,omitempty"`
	Count    int        `json:"batch,omitempty"`
	MaxBytes int        `json:"max_bytes,omitempty"`
}

// FetchBytes bounds the messages that one request returns.
const FetchBytes = 4 << 20

// fetchTimeout bounds how long the engine may take to reply.
const fetchTimeout = 5 * time.Second

// A Stored message was fetched from a stream.
type Stored struct {
	Sequence uint64
	Subject  string
	Time     time.Time
	Data     []byte
}

// Fetch returns the messages of a range, in order.
func (h *Host) Fetch(ctx context.Context, stream string, r Range) ([]Stored, error) {
	ctx, cancel := context.WithTimeout(ctx, h.Patience(fetchTimeout))
	defer cancel()
	r.MaxBytes = FetchBytes
	request, err := value.Marshal(r)
	if err != nil {
		return nil, err
	}
	inbox, replies := h.Side.NewRespInbox(), make(chan *nats.Msg, r.Count+1)
	sub, err := h.Side.ChanSubscribe(inbox, replies)
	if err != nil {
		return nil, NoAnswer(err)
	}
	defer func() { _ = sub.Unsubscribe() }() // fails if the connection has gone, which ends it too
	if err := h.Side.PublishRequest("$JS.API.DIRECT.GET."+stream, inbox, request); err != nil {
		return nil, NoAnswer(err)
	}
	var found []Stored
	for {
		var msg *nats.Msg
		select {
		case msg = <-replies:
		case <-ctx.Done():
			return nil, NoAnswer(ctx.Err())
		}
		switch status := msg.Header.Get("Status"); status {
		case "":
			one, err := readStored(msg)
			one.Data = h.Open(one.Subject, one.Data)
			if err != nil {
				return nil, NoAnswer(err)
			}
			found = append(found, one)
			if r.Count == 0 {
				return found, nil
			}
		case "204", "404":
			return found, nil
		default:
			return nil, NoAnswer(errors.New("direct get: status " + status))
		}
	}
}

func readStored(msg *nats.Msg) (s Stored, err error) {
	s = Stored{Subject: msg.Header.Get(jetstream.SubjectHeader), Data: msg.Data}
	if s.Sequence, err = strconv.ParseUint(msg.Header.Get(jetstream.SequenceHeader), 10, 64); err != nil {
		return s, err
	}
	s.Time, err = time.Parse(time.RFC3339Nano, msg.Header.Get(jetstream.TimeStampHeaer))
	return s, err
}
