package stream

import (
	"context"
	"errors"
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

// SequenceAt returns the sequence of the first message that was stored at a time or later.
// If there is none, it returns the sequence after the last one.
func (h *Host) SequenceAt(ctx context.Context, stream jetstream.Stream, state jetstream.StreamState, at time.Time) (uint64, error) {
	switch {
	case state.Msgs == 0 || at.After(state.LastTime):
		return state.LastSeq + 1, nil
	case !at.After(state.FirstTime):
		return state.FirstSeq, nil
	}
	config := stream.CachedInfo().Config
	if !config.AllowDirect {
		place, err := FirstSince(ctx, stream, state.FirstSeq, state.LastSeq, at)
		if err != nil {
			return 0, NoAnswer(err)
		}
		return place, nil
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
		msg, err := stream.GetMsg(ctx, first+uint64(i), jetstream.WithGetMsgSubject(">"))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return true // there is none from here on
		}
		failed = err
		return err != nil || !msg.Time.Before(limit)
	})
	return first + uint64(n), failed
}

// BeginAgain is the pause before a stream or a bucket is followed again.
const BeginAgain = time.Second

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

// Follow begins to follow a stream.
func (h *Host) Follow(ctx context.Context, s jetstream.Stream, config jetstream.OrderedConsumerConfig) (*Follower, error) {
	f := &Follower{host: h, stream: s, config: config}
	return f, f.begin(ctx)
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
		for again := true; again; again = f.begin(ctx) != nil {
			f.messages.Stop()
			select {
			case <-ctx.Done():
				return nil, nil, ctx.Err()
			case <-time.After(BeginAgain):
			}
		}
	}
}

// Stop ends the follower.
func (f *Follower) Stop() { f.messages.Stop() }
