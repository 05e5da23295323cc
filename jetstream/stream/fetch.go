package stream

import (
	"context"
	"errors"
	"iter"
	"sort"
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

// Found returns a message that was read, nil if there is none.
func Found(msg *jetstream.RawStreamMsg, err error) (*jetstream.RawStreamMsg, error) {
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return nil, nil
	case err != nil:
		return nil, NoAnswer(err)
	}
	return msg, nil
}

// First returns the first message of a subject, or of those that a pattern fits, from a sequence on; nil if
// there is none.
func First(ctx context.Context, s jetstream.Stream, from uint64, subject string) (*jetstream.RawStreamMsg, error) {
	return Found(s.GetMsg(ctx, from, jetstream.WithGetMsgSubject(subject)))
}

// Fetch returns the messages of a range, in order.
func (h *Host) Fetch(ctx context.Context, stream string, r Range) ([]*jetstream.RawStreamMsg, error) {
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
	var found []*jetstream.RawStreamMsg
	for {
		var msg *nats.Msg
		select {
		case msg = <-replies:
		case <-ctx.Done():
			return nil, NoAnswer(ctx.Err())
		}
		switch status := msg.Header.Get("Status"); status {
		case "":
			one, err := h.readStored(msg)
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

// All returns the messages of a range as far as there are any, in order. Its count is how many
// are fetched at a time.
func (h *Host) All(ctx context.Context, stream string, r Range) iter.Seq2[*jetstream.RawStreamMsg, error] {
	return func(yield func(*jetstream.RawStreamMsg, error) bool) {
		for more := true; more; {
			page, err := h.Fetch(ctx, stream, r)
			if err != nil {
				yield(nil, err)
				return
			}
			size := 0
			for _, msg := range page {
				if !yield(msg, nil) {
					return
				}
				r.Sequence = msg.Sequence + 1
				size += len(msg.Data)
			}
			more = len(page) == r.Count || size >= FetchBytes/2
		}
	}
}

// readStored reads a message as the engine sends it.
func (h *Host) readStored(msg *nats.Msg) (s *jetstream.RawStreamMsg, err error) {
	s = &jetstream.RawStreamMsg{Subject: msg.Header.Get(jetstream.SubjectHeader)}
	s.Data = h.Open(s.Subject, msg.Data)
	if s.Sequence, err = strconv.ParseUint(msg.Header.Get(jetstream.SequenceHeader), 10, 64); err != nil {
		return nil, err
	}
	s.Time, err = time.Parse(time.RFC3339Nano, msg.Header.Get(jetstream.TimeStampHeaer))
	return s, err
}

// SequenceAt returns the sequence of the first message that was stored at a time or later.
// If there is none, it returns the sequence after the last one.
func (h *Host) SequenceAt(
	ctx context.Context, stream jetstream.Stream, state jetstream.StreamState, at time.Time,
) (uint64, error) {
	switch {
	case state.Msgs == 0 || at.After(state.LastTime) && !state.LastTime.Before(state.FirstTime):
		return state.LastSeq + 1, nil // the engine forgets when the last one came, if that was removed before a kill
	case !at.After(state.FirstTime):
		return state.FirstSeq, nil
	}
	config := stream.CachedInfo().Config
	if !config.AllowDirect {
		return FirstSince(ctx, stream, state.FirstSeq, state.LastSeq, at)
	}
	at = at.UTC()
	found, err := h.Fetch(ctx, config.Name, Range{Since: &at})
	if err != nil {
		return 0, err
	}
	if len(found) == 0 {
		return state.LastSeq + 1, nil
	}
	return found[0].Sequence, nil
}

// FirstSince returns the sequence of a stream before which all messages are older than a
// time. The next message stands for missing ones.
func FirstSince(ctx context.Context, stream jetstream.Stream, first, last uint64, limit time.Time) (uint64, error) {
	var failed error
	n := sort.Search(int(last+1-first), func(i int) bool {
		if failed != nil {
			return true
		}
		var msg *jetstream.RawStreamMsg
		msg, failed = First(ctx, stream, first+uint64(i), ">")
		return msg == nil || !msg.Time.Before(limit) // none: there is none from here on
	})
	return first + uint64(n), failed
}
