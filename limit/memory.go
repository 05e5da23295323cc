package limit

import (
	"context"
	"time"

	"golang.org/x/sync/semaphore"

	"sluice"
	"sluice/stretch"
)

// small is the size up to which bytes are free.
const small = 16 << 10

// Copies is how many copies of a large body are in memory while it is stored: as it came, as
// text, in the event, and on its way through the engine.
const Copies = 6

// patience is how long a call waits for memory before it is refused.
const patience = 500 * time.Millisecond

// A Memory is a budget of bytes, such as for all bodies. Without it, every connection could
// take as much as one is allowed.
type Memory struct {
	max      int64
	free     *semaphore.Weighted
	pressure *Pressure
}

// NewMemory returns a budget of so many bytes. Takers wait while the pressure is high; it may
// be nil.
func NewMemory(bytes int64, pressure *Pressure) *Memory {
	return &Memory{max: bytes, free: semaphore.NewWeighted(bytes), pressure: pressure}
}

// Fits returns how many things of a size fit into the budget.
func (m *Memory) Fits(bytes int64) int { return int(m.max / bytes) }

// A Hold is the part of a Memory that one call or run has. The zero Hold has none.
type Hold struct {
	memory *Memory
	bytes  int64
}

// Hold returns an empty hold.
func (m *Memory) Hold() Hold { return Hold{memory: m} }

// Grow grows the hold to so many bytes. It waits a moment for them, and fails with
// Unavailable if they are still not free.
func (h *Hold) Grow(ctx context.Context, bytes int64) error {
	if !h.grow(ctx, bytes, stretch.Of(patience)) {
		return noMemory()
	}
	return nil
}

// Try is Grow without waiting, for bytes that would stay in memory while it waits.
func (h *Hold) Try(bytes int64) error {
	if !h.grow(context.Background(), bytes, 0) {
		return noMemory()
	}
	return nil
}

// grow waits for so many bytes, and reports whether it got them.
func (h *Hold) grow(ctx context.Context, bytes int64, wait time.Duration) bool {
	more := min(bytes, h.memory.max) - h.bytes // a single large hold may take everything
	if more <= 0 || bytes <= small {
		return true
	}
	if !h.memory.pressure.ease(ctx, wait) {
		return false
	}
	if !h.memory.free.TryAcquire(more) {
		if wait == 0 {
			return false
		}
		ctx, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		if err := h.memory.free.Acquire(ctx, more); err != nil {
			return false
		}
	}
	h.bytes += more
	return true
}

func noMemory() error {
	return sluice.Errorf(sluice.CodeOverloaded, "The server holds as much as its memory allows. Try again soon.").After(2 * time.Second).Closing()
}

// Move takes the same number of bytes from another Memory, and gives the old ones back.
func (h *Hold) Move(ctx context.Context, to *Memory) error {
	moved := Hold{memory: to}
	if err := moved.Grow(ctx, h.bytes); err != nil {
		return err
	}
	h.Release()
	*h = moved
	return nil
}

// Shrink gives back everything beyond so many bytes.
func (h *Hold) Shrink(bytes int64) {
	if h.bytes > bytes {
		h.memory.free.Release(h.bytes - bytes)
		h.bytes = bytes
	}
}

// Release gives everything back. Doing so again does nothing.
func (h *Hold) Release() { h.Shrink(0) }
