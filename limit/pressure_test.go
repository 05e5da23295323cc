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

// TestUsualBodiesOfKnownSenders: whatever strangers do to the memory, known senders may send
// bodies of a usual size, and nothing else.
func TestUsualBodiesOfKnownSenders(t *testing.T) {
	runtime.GC() // the pressure is known from then on
	bodies := limit.NewBodies(limit.BodyOptions{Known: 8 << 20, Strange: 8 << 20, Answers: 8 << 20, Pressure: limit.NewPressure(0)})
	for name, test := range map[string]struct {
		of    *limit.Memory
		bytes int64
		fits  bool
	}{
		"usual, of a known sender": {bodies.Known, 1 << 20, true},
		"large, of a known sender": {bodies.Known, 2 << 20, false},
		"usual, of a stranger":     {bodies.Strange, 1 << 20, false},
	} {
		hold := test.of.Hold()
		if err := hold.Try(test.bytes); (err == nil) != test.fits {
			t.Errorf("%s: %v", name, err)
		}
		hold.Release()
	}
}
