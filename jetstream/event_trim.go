package jetstream

import (
	"context"
	"log/slog"
	"math"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
)

const (
	trimEvery = time.Second
	// Fractions of the space for events: trimming starts above trimAbove and goes down
	// to trimDown.
	trimAbove, trimDown = 0.90, 0.85
)

// trimTimeout bounds one round.
const trimTimeout = 10 * time.Second

// trim removes old events until ctx ends: those past their age, and the oldest ones when
// space runs out. Unlike the engine's own limits, it stops at the first event that a pipeline
// has not finished.
func (s *Events) trim(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(trimEvery):
		case <-s.space.low:
		}
		if err := s.trimOnce(ctx); err != nil && ctx.Err() == nil && s.host.Connected() == nil {
			s.host.Log.Warn("Old events could not be removed.", "error", err)
		}
	}
}

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
	s.space.measure(info, s.host.Log)
	return nil
}

// remove removes the events before a sequence that all pipelines have finished, and returns
// the state of the stream after that.
func (s *Events) remove(ctx context.Context, info *jetstream.StreamInfo, until uint64) (*jetstream.StreamInfo, error) {
	first := info.State.FirstSeq
	if until <= first {
		return info, nil
	}
	unfinished, err := s.Queue.FirstUnfinished(ctx, first)
	if err != nil {
		return nil, err
	}
	if until, err = s.Queue.Waiting.Outlive(ctx, min(until, unfinished)); until <= first {
		return info, err
	}
	// The watermark is stored before the events go. Otherwise a start would report
	// them as lost.
	s.first.Store(until)
	if err := s.writeWatermarks(ctx); err != nil {
		return nil, err
	}
	if err := s.stream.Purge(ctx, jetstream.WithPurgeSequence(until)); err != nil {
		return nil, err
	}
	return s.stream.Info(ctx)
}

// expendable returns the sequence before which events are too old or must make space.
func (s *Events) expendable(ctx context.Context, info *jetstream.StreamInfo) (uint64, error) {
	if info.State.Msgs == 0 {
		return 0, nil
	}
	until := info.State.FirstSeq
	if u := used(info); u > trimAbove {
		surplus := (u - trimDown) / u
		until += uint64(math.Ceil(surplus * float64(info.State.Msgs)))
	}
	// Removing means asking all pipelines how far they are. It is not worth that for
	// events that have only just become too old.
	limit := time.Now().Add(-s.opts.EventMaxAge)
	if !info.State.FirstTime.Before(limit.Add(-min(s.opts.EventMaxAge/100, time.Minute))) {
		return until, nil
	}
	aged, err := stream.FirstSince(ctx, s.stream, info.State.FirstSeq, info.State.LastSeq, limit)
	return max(until, aged), err
}

// used returns the fraction of the space for events that is used.
func used(info *jetstream.StreamInfo) float64 {
	if info.Config.MaxBytes <= 0 {
		return 0
	}
	return float64(info.State.Bytes) / float64(info.Config.MaxBytes)
}

// Fractions of the space for events: above spaceFull no event is taken, until spaceRoom below
// it is free.
const spaceFull, spaceRoom = 0.97, 0.05

// space is how much may be stored until the stream is measured next. The engine itself must
// never refuse an event: it would store a part of the batch.
type space struct {
	left    atomic.Int64
	refused atomic.Bool   // an event, since the last measurement
	full    atomic.Bool   // all of it is used
	low     chan struct{} // asks for a measurement at once
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

// room returns nil when there is space for events.
func (s *space) room() error {
	if s.full.Load() {
		return storageFull()
	}
	return nil
}

// measure learns from the stream how much space is left.
func (s *space) measure(info *jetstream.StreamInfo, log *slog.Logger) {
	if info.Config.MaxBytes <= 0 {
		return
	}
	left := int64(spaceFull*float64(info.Config.MaxBytes)) - int64(info.State.Bytes)
	s.left.Store(left)
	// An event may be too large for what is left. After that, or once full, the storage
	// counts as full until spaceRoom is free, so that it does not change with each event.
	refused := s.refused.Swap(false)
	full := left <= 0 || (refused || s.full.Load()) && left < int64(spaceRoom*float64(info.Config.MaxBytes))
	if full == s.full.Swap(full) {
		return
	}
	if full {
		log.Error("The storage of events is full of events that pipelines have not finished; refusing new ones.")
	} else {
		log.Info("There is space for events again.")
	}
}

func newSpace() *space {
	s := &space{low: make(chan struct{}, 1)}
	s.left.Store(math.MaxInt64)
	return s
}

func storageFull() error {
	return sluice.Passing(sluice.CodeStorageFull,
		"The storage of events is full of events that pipelines have not finished.")
}
