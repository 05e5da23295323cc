package limit

import (
	"context"
	"time"

	"golang.org/x/sync/semaphore"

	"sluice"
	"sluice/stretch"
)

// small is the size up to which something costs no more than the call itself.
const small = 16 << 10

// Copies is how many times the bytes of a large body are in memory while it is
// stored: as it came, as the text of the event, in the event, and on its way
// through the engine.
const Copies = 6

// patience is how long a call waits for memory before it is refused.
const patience = 500 * time.Millisecond

// A Memory bounds the bytes that something takes together, such as all bodies.
// Without it, as many callers as there are connections could take the most that
// is allowed to one.
type Memory struct {
	max      int64
	free     *semaphore.Weighted
	pressure *Pressure
}

// NewMemory returns a budget of so many bytes. Whoever takes of it has to wait
// while the pressure, if there is one, is high.
func NewMemory(bytes int64, pressure *Pressure) *Memory {
	return &Memory{max: bytes, free: semaphore.NewWeighted(bytes), pressure: pressure}
}

// Fits returns how many things of a size there is memory for.
func (m *Memory) Fits(bytes int64) int { return int(m.max / bytes) }

// A Hold is the part of a memory that one call or run has. The zero Hold has
// nothing, of no memory.
type Hold struct {
	memory *Memory
	bytes  int64
}

// Hold returns a hold on the memory, of nothing yet.
func (m *Memory) Hold() Hold { return Hold{memory: m} }

// Grow takes as much more as it needs to have so many bytes, and waits for that
// a moment. It fails with Unavailable if so much is not free by then.
func (h *Hold) Grow(ctx context.Context, bytes int64) error {
	if !h.grow(ctx, bytes, stretch.Of(patience)) {
		return noMemory()
	}
	return nil
}

// Try does the same without waiting: for what is in memory already, and would
// be while it waits.
func (h *Hold) Try(bytes int64) error {
	if !h.grow(context.Background(), bytes, 0) {
		return noMemory()
	}
	return nil
}

// grow reports whether it has so many bytes, after some time of waiting for them.
func (h *Hold) grow(ctx context.Context, bytes int64, wait time.Duration) bool {
	more := min(bytes, h.memory.max) - h.bytes // whatever fits in alone is allowed
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

// Move gives back what it has, and takes as much of another memory.
func (h *Hold) Move(ctx context.Context, to *Memory) error {
	moved := Hold{memory: to}
	if err := moved.Grow(ctx, h.bytes); err != nil {
		return err
	}
	h.Release()
	*h = moved
	return nil
}

// Shrink gives back what is more than so many bytes.
func (h *Hold) Shrink(bytes int64) {
	if h.bytes > bytes {
		h.memory.free.Release(h.bytes - bytes)
		h.bytes = bytes
	}
}

// Release gives everything back. Doing so again does nothing.
func (h *Hold) Release() { h.Shrink(0) }
