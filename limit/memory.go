// Package limit bounds what strangers and users may take: the pace and memory of bodies,
// connections, tries, the length of credentials, and the size of caches. It knows keys, sizes
// and times, not what they stand for.
package limit

import (
	"context"
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"

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
	spared   int64 // holds of up to so many bytes don't wait for the pressure
}

// NewMemory returns a budget of so many bytes. Takers wait while the pressure is high; it may
// be nil.
func NewMemory(bytes int64, pressure *Pressure) *Memory {
	return &Memory{max: bytes, free: semaphore.NewWeighted(bytes), pressure: pressure}
}

// Beside returns an equal budget that others don't take from, and whose takers don't wait for the
// pressure.
func (m *Memory) Beside() *Memory { return NewMemory(m.max, nil) }

// Calm waits a moment until the pressure is not high, and reports whether it is not.
func (m *Memory) Calm(ctx context.Context) bool { return m.pressure.ease(ctx, stretch.Of(patience)) }

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
	return h.grow(ctx, bytes, stretch.Of(patience))
}

// Try is Grow without waiting, for bytes that would stay in memory while it waits.
func (h *Hold) Try(bytes int64) error {
	return h.grow(context.Background(), bytes, 0)
}

// Wait grows the hold to so many bytes, however long that takes and however high the pressure
// is. It fails only when ctx ends.
func (h *Hold) Wait(ctx context.Context, bytes int64) error {
	more := min(bytes, h.memory.max) - h.bytes
	if more <= 0 || bytes <= small {
		return nil
	}
	if err := h.memory.free.Acquire(ctx, more); err != nil {
		return err
	}
	h.bytes += more
	return nil
}

// grow waits for so many bytes.
func (h *Hold) grow(ctx context.Context, bytes int64, wait time.Duration) error {
	more := min(bytes, h.memory.max) - h.bytes // a single large hold may take everything
	if more <= 0 || bytes <= small {
		return nil
	}
	if bytes > h.memory.spared && !h.memory.pressure.ease(ctx, wait) {
		return noMemory()
	}
	if !h.memory.free.TryAcquire(more) {
		if wait == 0 {
			return noMemory()
		}
		ctx, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		if h.memory.free.Acquire(ctx, more) != nil {
			return noMemory()
		}
	}
	h.bytes += more
	return nil
}

func noMemory() error {
	return sluice.CodeOverloaded.Errorf("The server holds as much as its memory allows. Try again soon.").
		After(2 * time.Second).Closing()
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

// A Pressure tells whether the process uses as much memory as it may. Budgets don't cover
// the engine's blocks and garbage; the pressure does. A nil Pressure is never high.
type Pressure struct {
	bound      uint64
	collecting singleflight.Group
}

// collectAgain is the shortest time between two requested collections.
const collectAgain = 50 * time.Millisecond

// NewPressure returns the pressure of a process that may use so many bytes. It is high from
// five eighths on: calls that were admitted before may take the rest.
func NewPressure(bytes int64) *Pressure { return &Pressure{bound: uint64(bytes) / 8 * 5} }

// high reports whether the last collection found too much memory in use.
func (p *Pressure) high() bool {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	return live[0].Value.Uint64() > p.bound
}

// ease waits until the pressure is no longer high, and reports whether that came in time. It
// requests collections meanwhile: an idle server has none by itself.
func (p *Pressure) ease(ctx context.Context, wait time.Duration) bool {
	if p == nil || !p.high() {
		return true
	}
	for until := time.After(wait); ; {
		collected := p.collecting.DoChan("", collect)
		if wait == 0 {
			return false
		}
		select {
		case <-ctx.Done():
			return false
		case <-until:
			return false
		case <-collected:
			if !p.high() {
				return true
			}
		}
	}
}

func collect() (any, error) {
	runtime.GC()
	time.Sleep(collectAgain)
	return nil, nil
}

// leastOfMachine is what the server may use of a machine's memory at least, if the machine
// has as much.
const leastOfMachine = 2 << 30

// Available returns the memory that this process may use: all of its container's, or half
// of the machine's, which it shares with other programs.
func Available() int64 {
	machine, _ := memlimit.FromSystem()   // 0 where the system does not tell
	contained, _ := memlimit.FromCgroup() // 0 without a bound
	return availableOf(machine, contained)
}

func availableOf(machine, contained uint64) int64 {
	switch {
	case contained > 0 && (machine == 0 || contained < machine):
		return int64(contained)
	case machine == 0:
		return leastOfMachine
	}
	return int64(max(machine/2, min(leastOfMachine, machine/4*3)))
}
