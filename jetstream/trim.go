package jetstream

import (
	"context"
	"errors"
	"math"
	"sort"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	trimEvery = time.Second
	// Trimming starts when this part of the room for events is used, and
	// goes on down to the second one. Above the last nothing is taken.
	trimAbove, trimDown, trimFull = 0.90, 0.85, 0.97
)

// room is how much may be stored until the next look at the stream. The engine
// must never come to refuse an event itself: of a batch it would store some.
type room struct {
	left atomic.Int64
	full atomic.Bool   // it was used up
	low  chan struct{} // asks for a look before its time
}

func newRoom() *room {
	r := &room{low: make(chan struct{}, 1)}
	r.left.Store(math.MaxInt64)
	return r
}

// take tells whether there is room for an event.
func (r *room) take(size int) bool {
	const overhead = 512 // of a message: subject, times, checksum
	if r.left.Add(-int64(size)-overhead) > 0 {
		return true
	}
	select {
	case r.low <- struct{}{}:
	default:
	}
	return false
}

// trim removes old events until ctx ends: those past their age, and the oldest
// as the room fills. It stops at the first event that a pipeline has not
// finished. The engine's own limits would not: they only refuse what is too much.
func (s *Events) trim(ctx context.Context) {
	tick := time.NewTicker(trimEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-s.room.low:
		}
		if err := s.trimOnce(ctx); err != nil && ctx.Err() == nil && s.engine.connected() == nil {
			s.engine.log.Warn("Old events could not be removed.", "error", err)
		}
	}
}

func (s *Events) trimOnce(ctx context.Context) error {
	info, err := s.stream.Info(ctx)
	if err != nil {
		return err
	}
	until, err := s.expendable(ctx, info)
	if err != nil {
		return err
	}
	if until > info.State.FirstSeq {
		unfinished, err := s.firstUnfinished(ctx)
		if err != nil {
			return err
		}
		until = min(until, unfinished)
	}
	if until > info.State.FirstSeq {
		if err := s.stream.Purge(ctx, jetstream.WithPurgeSequence(until)); err != nil {
			return err
		}
		if info, err = s.stream.Info(ctx); err != nil {
			return err
		}
	}
	s.measureRoom(info)
	return nil
}

// used gives the part of the room for events that is used.
func used(info *jetstream.StreamInfo) float64 {
	if info.Config.MaxBytes <= 0 {
		return 0
	}
	return float64(info.State.Bytes) / float64(info.Config.MaxBytes)
}

func (s *Events) measureRoom(info *jetstream.StreamInfo) {
	if info.Config.MaxBytes <= 0 {
		return
	}
	left := int64(trimFull*float64(info.Config.MaxBytes)) - int64(info.State.Bytes)
	s.room.left.Store(left)
	full := left <= 0
	if full == s.room.full.Swap(full) {
		return
	}
	if full {
		s.engine.log.Error("The storage of events is full of events that pipelines have not finished; refusing new ones.")
	} else {
		s.engine.log.Info("There is room for events again.")
	}
}

// expendable gives the sequence before which events are too old, or have to make
// room.
func (s *Events) expendable(ctx context.Context, info *jetstream.StreamInfo) (uint64, error) {
	if info.State.Msgs == 0 {
		return 0, nil
	}
	until := info.State.FirstSeq
	if u := used(info); u > trimAbove {
		surplus := (u - trimDown) / u
		until += uint64(math.Ceil(surplus * float64(info.State.Msgs)))
	}
	limit := time.Now().Add(-s.engine.opts.EventMaxAge)
	if !info.State.FirstTime.Before(limit) {
		return until, nil
	}
	aged, err := firstSince(ctx, s.stream, info.State.FirstSeq, info.State.LastSeq, limit)
	return max(until, aged), err
}

// firstSince gives the sequence of the first message that is not older than a
// time.
func firstSince(ctx context.Context, stream jetstream.Stream, first, last uint64, limit time.Time) (uint64, error) {
	var failed error
	n := sort.Search(int(last+1-first), func(i int) bool {
		msg, err := stream.GetMsg(ctx, first+uint64(i))
		if err != nil && !errors.Is(err, jetstream.ErrMsgNotFound) {
			failed = err
		}
		return err == nil && !msg.Time.Before(limit)
	})
	return first + uint64(n), failed
}

// firstUnfinished gives the sequence up to which all pipelines are done.
func (s *Events) firstUnfinished(ctx context.Context) (uint64, error) {
	unfinished := uint64(math.MaxUint64)
	consumers := s.stream.ListConsumers(ctx)
	for info := range consumers.Info() {
		oldest, err := s.oldestUnfinished(ctx, info)
		if err != nil {
			return 0, err
		}
		if oldest != nil {
			unfinished = min(unfinished, oldest.Sequence)
		}
	}
	return unfinished, consumers.Err()
}
