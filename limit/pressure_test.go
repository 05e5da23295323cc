package limit_test

import (
	"runtime"
	"testing"
	"time"

	"sluice"
	"sluice/limit"
)

// TestPressure: what is in no budget keeps others from taking of one, until the
// collector has seen it go.
func TestPressure(t *testing.T) {
	elsewhere := make([]byte, 64<<20)
	runtime.GC()
	m := limit.NewMemory(1<<20, limit.NewPressure(64<<20))
	held, small := m.Hold(), m.Hold()
	if err := held.Grow(t.Context(), 100<<10); err == nil || sluice.AsError(err).Kind != sluice.Unavailable {
		t.Errorf("under pressure: got %v", err)
	}
	if err := small.Grow(t.Context(), 10<<10); err != nil {
		t.Errorf("a small body is refused too: %v", err)
	}
	runtime.KeepAlive(elsewhere)            // and not longer
	deadline := time.Now().Add(time.Minute) // a collection may take longer than a caller waits
	for err := held.Grow(t.Context(), 100<<10); err != nil; err = held.Grow(t.Context(), 100<<10) {
		if time.Now().After(deadline) {
			t.Fatalf("without pressure: %v", err)
		}
	}
	held.Release()
}
