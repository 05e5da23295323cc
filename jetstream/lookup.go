package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A look is a request for messages of a stream that allows direct reads: from a
// place or a time on, those of a subject or all. The engine answers many
// messages to one request.
type look struct {
	Sequence uint64     `json:"seq,omitempty"`
	Subject  string     `json:"next_by_subj,omitempty"`
	Since    *time.Time `json:"start_time,omitempty"`
	Count    int        `json:"batch,omitempty"`
	MaxBytes int        `json:"max_bytes,omitempty"`
}

// lookBytes bounds what one look answers with.
const lookBytes = 4 << 20

// lookTimeout bounds how long the engine may take to answer.
const lookTimeout = 5 * time.Second

// A stored message is one that a look has found.
type stored struct {
	sequence uint64
	subject  string
	time     time.Time
	data     []byte
}

// look gives the messages that a stream has, in their order.
func (e *Engine) look(ctx context.Context, stream string, l look) ([]stored, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	l.MaxBytes = lookBytes
	request, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	inbox, replies := e.side.NewRespInbox(), make(chan *nats.Msg, l.Count+1)
	sub, err := e.side.ChanSubscribe(inbox, replies)
	if err != nil {
		return nil, noAnswer(err)
	}
	defer func() { _ = sub.Unsubscribe() }() // fails if the connection has gone, which ends it too
	if err := e.side.PublishRequest("$JS.API.DIRECT.GET."+stream, inbox, request); err != nil {
		return nil, noAnswer(err)
	}
	var found []stored
	for {
		var msg *nats.Msg
		select {
		case msg = <-replies:
		case <-ctx.Done():
			return nil, noAnswer(ctx.Err())
		}
		switch status := msg.Header.Get("Status"); status {
		case "":
			one, err := readStored(msg)
			if err != nil {
				return nil, noAnswer(err)
			}
			found = append(found, one)
			if l.Count == 0 {
				return found, nil
			}
		case "204", "404":
			return found, nil
		default:
			return nil, noAnswer(errors.New("direct get: status " + status))
		}
	}
}

func readStored(msg *nats.Msg) (s stored, err error) {
	s = stored{subject: msg.Header.Get(jetstream.SubjectHeader), data: msg.Data}
	if s.sequence, err = strconv.ParseUint(msg.Header.Get(jetstream.SequenceHeader), 10, 64); err != nil {
		return s, err
	}
	s.time, err = time.Parse(time.RFC3339Nano, msg.Header.Get(jetstream.TimeStampHeaer))
	return s, err
}

// placeOf gives the sequence of the first message of a stream that was stored
// at a time or later; behind the last one if there is none.
func (e *Engine) placeOf(ctx context.Context, stream jetstream.Stream, state jetstream.StreamState, at time.Time) (uint64, error) {
	switch {
	case state.Msgs == 0 || at.After(state.LastTime):
		return state.LastSeq + 1, nil
	case !at.After(state.FirstTime):
		return state.FirstSeq, nil
	}
	config := stream.CachedInfo().Config
	if !config.AllowDirect {
		place, err := firstSince(ctx, stream, state.FirstSeq, state.LastSeq, at)
		if err != nil {
			return 0, noAnswer(err)
		}
		return place, nil
	}
	at = at.UTC()
	found, err := e.look(ctx, config.Name, look{Since: &at})
	if err != nil {
		return 0, err
	}
	if len(found) == 0 {
		return state.LastSeq + 1, nil
	}
	return found[0].sequence, nil
}
