package limit

import (
	"context"
	"runtime"
	"runtime/metrics"
	"time"

	"golang.org/x/sync/singleflight"
)

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
