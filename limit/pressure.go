package limit

import (
	"context"
	"runtime"
	"runtime/metrics"
	"time"

	"golang.org/x/sync/singleflight"
)

// A Pressure knows whether the process has as much memory in use as it may, whoever
// uses it. A budget bounds what it is asked for; the engine's blocks and what
// waits for the collector are in none. A nil Pressure is never high.
type Pressure struct {
	bound      uint64
	collecting singleflight.Group
}

// collectAgain is how long at least lies between two collections that are asked for.
const collectAgain = 50 * time.Millisecond

// NewPressure returns the pressure in a process that may use so many bytes. It is
// high from five eighths on: what was let in before may take the rest.
func NewPressure(bytes int64) *Pressure { return &Pressure{bound: uint64(bytes) / 8 * 5} }

// high reports whether more was in use than may be, when the collector last looked.
func (p *Pressure) high() bool {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	return live[0].Value.Uint64() > p.bound
}

// ease waits until the pressure is not high, and reports whether that came in time.
// It asks for collections meanwhile: a server that nobody calls has none by itself.
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
