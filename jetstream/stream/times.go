package stream

import (
	"context"
	"errors"
	"sort"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// SequenceAt returns the sequence of the first message that was stored at a time or later.
// If there is none, it returns the sequence after the last one.
func (h *Host) SequenceAt(
	ctx context.Context, stream jetstream.Stream, state jetstream.StreamState, at time.Time,
) (uint64, error) {
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
