package queue

import (
	"context"
	"math"

	"sluice"
	"sluice/limit"
	"sluice/value"
)

const (
	// smallEvent is the size up to which the memory of an event is not counted.
	smallEvent = 64 << 10
	// prefetched is how many bytes of events a pipeline may get before they have
	// a slot. The largest event must fit in.
	prefetched = 8 << 20
	// outcomeCopies is how many times a large outcome is in memory while it is stored:
	// as the pipeline made it, as it is written, and on its way through the engine.
	outcomeCopies = 5
)

// A memory bounds what all pipelines together take for events as they are stored, for
// decoded events, and for outcomes that are being stored.
type memory struct{ stored, decoded, outcomes *limit.Memory }

// newMemory returns a memory of so many bytes; 0: no bound.
func newMemory(bytes int64) *memory {
	if bytes == 0 {
		bytes = math.MaxInt64
	}
	half := func() *limit.Memory { return limit.NewMemory(bytes/2, nil) }
	return &memory{stored: half(), decoded: half(), outcomes: half()}
}

// takeMemory waits for so many bytes. An event that is larger than the bound is allowed
// alone.
func takeMemory(ctx context.Context, of *limit.Memory, bytes int) (h limit.Hold, err error) {
	if h = of.Hold(); bytes > smallEvent {
		err = h.Wait(ctx, int64(bytes))
	}
	return h, err
}

// settling waits for the memory to store an outcome, until release is called.
func (m *memory) settling(o sluice.Outcome) (release func()) {
	// Others give theirs back in any case: writers have time-outs.
	h, _ := takeMemory(context.Background(), m.outcomes, outcomeCopies*len(o.Value))
	return h.Release
}

// footprint returns what an event takes in memory when it is decoded.
func footprint(data []byte) int {
	if len(data) <= smallEvent/2 {
		return 0
	}
	return value.Footprint(data)
}
