package queue

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/record"
	"sluice/jetstream/stream"
)

// lowWaterEvery is how often the marks are written.
const lowWaterEvery = 10 * time.Second

// lowWaterMarks is the record of the low-water marks. A mark is the sequence in the
// stream of events up to which a pipeline is done. The engine keeps that as well, but
// without a sync: after a power cut it may start over. Then events up to the mark are not
// run again, and later ones only if they have no outcome.
//
// One record has all marks, so that one write is enough for any number of pipelines.
type lowWaterMarks struct {
	All map[string]uint64 `json:"all,omitempty"` // by binding
}

// allMarks is the key of that record.
const allMarks = "all"

// LowWater is the bucket with the low-water marks of all bindings.
type LowWater struct {
	*record.Bucket[lowWaterMarks]
	host      *stream.Host
	listeners *Listeners

	states func(ctx context.Context, bound map[string]*sluice.Pipeline) (map[string]*jetstream.ConsumerInfo, error)
}

// NewLowWater returns low-water marks. SetUp comes next.
func NewLowWater(h *stream.Host, l *Listeners) *LowWater {
	return &LowWater{host: h, listeners: l, Bucket: record.New[lowWaterMarks](h, stream.LowWater)}
}

// Of returns the low-water mark of a binding.
func (w *LowWater) Of(binding string) uint64 {
	if known := w.Copy(allMarks); known != nil {
		return known.All[binding]
	}
	return 0
}

// Write stores how far pipelines are.
func (w *LowWater) Write(ctx context.Context) error {
	bound := w.listeners.Bound()
	states, untold := w.states(ctx, bound)
	moved := make(map[string]uint64)
	for id := range bound {
		if info := states[id]; info != nil && info.AckFloor.Stream > w.Of(id) {
			moved[id] = info.AckFloor.Stream
		}
	}
	if len(moved) == 0 {
		return untold
	}
	if err := w.host.Ready(); err != nil {
		return errors.Join(err, untold)
	}
	// Several nodes may write at the same time: no mark sinks.
	return errors.Join(untold, w.change(ctx, func(marks map[string]uint64) {
		for binding, sequence := range moved {
			marks[binding] = max(marks[binding], sequence)
		}
	}))
}

// change changes a copy of the marks, and stores it.
func (w *LowWater) change(ctx context.Context, edit func(marks map[string]uint64)) error {
	_, err := w.ChangeEarly(ctx, allMarks,
		func(before *lowWaterMarks, _ map[string]*lowWaterMarks) (*lowWaterMarks, error) {
			after := &lowWaterMarks{make(map[string]uint64)}
			if before != nil {
				maps.Copy(after.All, before.All)
			}
			edit(after.All)
			return after, nil
		})
	return err
}

// drop deletes the mark of a binding.
func (w *LowWater) drop(ctx context.Context, binding string) error {
	if w.Of(binding) == 0 {
		return nil
	}
	if err := w.host.Ready(); err != nil {
		return err
	}
	return w.change(ctx, func(marks map[string]uint64) { delete(marks, binding) })
}

// Lower lowers the marks that are above a sequence, also while the engine is being set up.
func (w *LowWater) Lower(ctx context.Context, sequence uint64) error {
	known := w.Copy(allMarks)
	if known == nil || len(known.All) == 0 || slices.Max(slices.Collect(maps.Values(known.All))) <= sequence {
		return nil
	}
	return w.change(ctx, func(marks map[string]uint64) {
		for binding, mark := range marks {
			marks[binding] = min(mark, sequence)
		}
	})
}
