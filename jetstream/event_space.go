package jetstream

import (
	"log/slog"
	"math"
	"sync/atomic"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
)

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
