package jetstream

import (
	"context"
	"math"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
)

const (
	trimEvery = time.Second
	// Trimming starts when this part of the space for events is used, and
	// goes on down to the second one. Above the third nothing is taken, until
	// the fourth is free below that.
	trimAbove, trimDown, trimFull, trimRoom = 0.90, 0.85, 0.97, 0.05
)

// space is how much may be stored until the stream is looked at next. The
// engine itself must never refuse an event: it would store a part of the batch.
type space struct {
	left    atomic.Int64
	refused atomic.Bool   // since the last look
	full    atomic.Bool   // it was used up
	low     chan struct{} // asks for a look before its time
}

func newSpace() *space {
	s := &space{low: make(chan struct{}, 1)}
	s.left.Store(math.MaxInt64)
	return s
}

// take reports whether there is space for an event.
func (s *space) take(size int) bool {
	const overhead = 512 // of a message: subject, times, checksum
	if s.left.Add(-int64(size)-overhead) > 0 {
		return true
	}
	s.refused.Store(true)
	select {
	case s.low <- struct{}{}:
	default:
	}
	return false
}

func storageFull() error {
	return sluice.Passing(sluice.CodeStorageFull, "The storage of events is full of events that pipelines have not finished.")
}

// room returns nil when there is space for events.
func (s *Events) room() error {
	if s.space.full.Load() {
		return storageFull()
	}
	return nil
}

// trim removes old events until ctx ends: those past their age, and the oldest
// as the space fills. It stops at the first event that a pipeline has not
// finished. The engine's own limits would not: they merely refuse events beyond
// them.
func (s *Events) trim(ctx context.Context) {
	tick := time.NewTicker(trimEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-s.space.low:
		}
		if err := s.trimOnce(ctx); err != nil && ctx.Err() == nil && s.host.Connected() == nil {
			s.host.Log.Warn("Old events could not be removed.", "error", err)
		}
	}
}

// trimTimeout bounds one round; later answers are ignored.
const trimTimeout = 10 * time.Second

func (s *Events) trimOnce(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, trimTimeout)
	defer cancel()
	info, err := s.stream.Info(ctx)
	if err != nil {
		return err
	}
	until, err := s.expendable(ctx, info)
	if err != nil {
		return err
	}
	if info, err = s.remove(ctx, info, until); err != nil {
		return err
	}
	s.measureSpace(info)
	return nil
}

// remove removes the events before a sequence that all pipelines are known to have
// finished, and returns the stream as it is then.
func (s *Events) remove(ctx context.Context, info *jetstream.StreamInfo, until uint64) (*jetstream.StreamInfo, error) {
	first := info.State.FirstSeq
	if until <= first {
		return info, nil
	}
	unfinished, err := s.queue.FirstUnfinished(ctx, first)
	if err != nil {
		return nil, err
	}
	if until = min(until, unfinished); until <= first {
		return info, nil
	}
	// It is stored first that they are not needed, and then they go: the other
	// way round a start would miss them.
	s.first.Store(until)
	if err := s.mark(ctx); err != nil {
		return nil, err
	}
	if err := s.stream.Purge(ctx, jetstream.WithPurgeSequence(until)); err != nil {
		return nil, err
	}
	return s.stream.Info(ctx)
}

// used returns the part of the space for events that is used.
func used(info *jetstream.StreamInfo) float64 {
	if info.Config.MaxBytes <= 0 {
		return 0
	}
	return float64(info.State.Bytes) / float64(info.Config.MaxBytes)
}

func (s *Events) measureSpace(info *jetstream.StreamInfo) {
	if info.Config.MaxBytes <= 0 {
		return
	}
	left := int64(trimFull*float64(info.Config.MaxBytes)) - int64(info.State.Bytes)
	s.space.left.Store(left)
	// An event may be too large for what is left. Once full, there is to be
	// room for a while before it is said that there is room.
	refused := s.space.refused.Swap(false)
	full := left <= 0 || (refused || s.space.full.Load()) && left < int64(trimRoom*float64(info.Config.MaxBytes))
	if full == s.space.full.Swap(full) {
		return
	}
	if full {
		s.host.Log.Error("The storage of events is full of events that pipelines have not finished; refusing new ones.")
	} else {
		s.host.Log.Info("There is space for events again.")
	}
}

// expendable returns the sequence before which events are too old, or must make
// space.
func (s *Events) expendable(ctx context.Context, info *jetstream.StreamInfo) (uint64, error) {
	if info.State.Msgs == 0 {
		return 0, nil
	}
	until := info.State.FirstSeq
	if u := used(info); u > trimAbove {
		surplus := (u - trimDown) / u
		until += uint64(math.Ceil(surplus * float64(info.State.Msgs)))
	}
	// Once there is something to remove, pipelines are asked how far they are.
	// So nothing is removed for the sake of a moment.
	limit := time.Now().Add(-s.keep.age)
	if !info.State.FirstTime.Before(limit.Add(-min(s.keep.age/100, time.Minute))) {
		return until, nil
	}
	aged, err := stream.FirstSince(ctx, s.stream, info.State.FirstSeq, info.State.LastSeq, limit)
	return max(until, aged), err
}
