package queue

import (
	"context"
	"math"

	"golang.org/x/sync/semaphore"

	"sluice"
	"sluice/value"
)

const (
	// smallEvent is the size up to which the memory of an event is not counted.
	smallEvent = 64 << 10
	// prefetched is how many bytes of events a pipeline may take in before they have
	// a slot. The largest event must fit in.
	prefetched = 8 << 20
)

// outcomeCopies is how many times a large outcome is in memory while it is stored:
// as the pipeline made it, as it is written, and on its way through the engine.
const outcomeCopies = 5

// A memory bounds what all pipelines together take for events as they are stored, for
// decoded events, and for outcomes that are being stored.
type memory struct{ stored, decoded, outcomes bound }

// newMemory returns a memory of so many bytes; 0: no bound.
func newMemory(bytes int64) *memory {
	if bytes == 0 {
		bytes = math.MaxInt64
	}
	return &memory{stored: newBound(bytes / 2), decoded: newBound(bytes / 2), outcomes: newBound(bytes / 2)}
}

// settling waits for the memory to store an outcome, until release is called.
func (m *memory) settling(o sluice.Outcome) (release func()) {
	// Others give theirs back in any case: writers have time-outs.
	weight, _ := m.outcomes.acquire(context.Background(), outcomeCopies*len(o.Value))
	return func() { m.outcomes.release(weight) }
}

type bound struct {
	most int64
	free *semaphore.Weighted
}

func newBound(most int64) bound { return bound{most, semaphore.NewWeighted(most)} }

// acquire waits for so many bytes, and returns how many to release. An event that is
// larger than the bound is allowed alone.
func (b bound) acquire(ctx context.Context, bytes int) (weight int64, err error) {
	if bytes <= smallEvent {
		return 0, nil
	}
	weight = min(int64(bytes), b.most)
	if err := b.free.Acquire(ctx, weight); err != nil {
		return 0, err
	}
	return weight, nil
}

func (b bound) release(weight int64) { b.free.Release(weight) }

// footprint returns what an event takes in memory when it is decoded.
func footprint(data []byte) int {
	if len(data) <= smallEvent/2 {
		return 0
	}
	return value.Footprint(data)
}
