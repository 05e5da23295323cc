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
// Earlier versions stored a record for each binding: it is still read, and dropped with
// the binding.
type lowWaterMarks struct {
	Sequence uint64            `json:"sequence,omitempty"` // of one binding, from earlier versions
	All      map[string]uint64 `json:"all,omitempty"`      // by binding
}

// allMarks is the key of the record with all marks. No binding has this id.
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
	sequence := uint64(0)
	if known := w.Copy(binding); known != nil {
		sequence = known.Sequence
	}
	if known := w.Copy(allMarks); known != nil {
		sequence = max(sequence, known.All[binding])
	}
	return sequence
}

// keep writes the marks regularly until ctx ends.
func (w *LowWater) keep(ctx context.Context) {
	w.host.Every(ctx, lowWaterEvery, func(time.Time) {
		if err := w.Write(ctx); err != nil && ctx.Err() == nil && w.host.Ready() == nil {
			w.host.Log.Warn("How far pipelines are could not be written down.", "error", err)
		}
	})
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
	// Several nodes may write at the same time: no mark sinks.
	_, err := w.Change(ctx, allMarks, func(before *lowWaterMarks, _ map[string]*lowWaterMarks) (*lowWaterMarks, error) {
		after := before.copy()
		for binding, sequence := range moved {
			after.All[binding] = max(after.All[binding], sequence)
		}
		return after, nil
	})
	return errors.Join(err, untold)
}

// copy returns a record of all marks that may be changed.
func (m *lowWaterMarks) copy() *lowWaterMarks {
	all := make(map[string]uint64)
	if m != nil {
		maps.Copy(all, m.All)
	}
	return &lowWaterMarks{All: all}
}

// drop deletes the mark of a binding.
func (w *LowWater) drop(ctx context.Context, binding string) error {
	if w.Copy(binding) != nil {
		if _, err := w.Change(ctx, binding, func(*lowWaterMarks, map[string]*lowWaterMarks) (*lowWaterMarks, error) { return nil, nil }); err != nil {
			return err
		}
	}
	if w.Of(binding) == 0 {
		return nil
	}
	_, err := w.Change(ctx, allMarks, func(before *lowWaterMarks, _ map[string]*lowWaterMarks) (*lowWaterMarks, error) {
		after := before.copy()
		delete(after.All, binding)
		return after, nil
	})
	return err
}

// Lower lowers the marks that are above a sequence.
func (w *LowWater) Lower(ctx context.Context, sequence uint64) error {
	above := func(known *lowWaterMarks) bool {
		return slices.Max(slices.AppendSeq([]uint64{known.Sequence}, maps.Values(known.All))) > sequence
	}
	for _, key := range w.Keys(above) {
		_, err := w.ChangeEarly(ctx, key, func(before *lowWaterMarks, _ map[string]*lowWaterMarks) (*lowWaterMarks, error) {
			after := before.copy()
			for binding, other := range after.All {
				after.All[binding] = min(other, sequence)
			}
			after.Sequence = min(before.Sequence, sequence)
			return after, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
