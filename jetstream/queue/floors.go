package queue

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/record"
	"sluice/jetstream/stream"
)

// floorEvery is how often floors are written.
const floorEvery = 10 * time.Second

// A floor is the sequence in the stream of events up to which a pipeline is
// done. The engine keeps that as well, but writes it without a sync: after a
// power cut it may begin at the start again. Then events up to the floor are
// not run again, and later ones only if they have no outcome.
type floor struct {
	Sequence uint64 `json:"sequence"`
}

// Floors keeps the floors of all bindings.
type Floors struct {
	host      *stream.Host
	listeners *Listeners
	floors    *record.Bucket[floor]

	states func(ctx context.Context, bound map[string]*sluice.Pipeline) (map[string]*jetstream.ConsumerInfo, error)
}

// NewFloors returns floors that are yet to be set up.
func NewFloors(h *stream.Host, l *Listeners) *Floors {
	return &Floors{host: h, listeners: l, floors: record.New[floor](h, "floors")}
}

// Name returns the name of the bucket that floors are kept in.
func (f *Floors) Name() string { return f.floors.Name() }

// StreamName returns the name of the stream that floors are kept in.
func (f *Floors) StreamName() string { return f.floors.StreamName() }

// SetUp reads the floors that are known.
func (f *Floors) SetUp(ctx, running context.Context, in record.Generation) error {
	return f.floors.SetUp(ctx, running, in)
}

// Of returns the floor of a binding.
func (f *Floors) Of(binding string) uint64 {
	if known := f.floors.Copy(binding); known != nil {
		return known.Sequence
	}
	return 0
}

// Extent returns how much that bucket has in it.
func (f *Floors) Extent(ctx context.Context) (record.Extent, error) { return f.floors.Extent(ctx) }

// keep writes the floors regularly until ctx ends.
func (f *Floors) keep(ctx context.Context) {
	f.host.Every(ctx, floorEvery, func(time.Time) {
		if err := f.Write(ctx); err != nil && ctx.Err() == nil && f.host.Ready() == nil {
			f.host.Log.Warn("How far pipelines are could not be written down.", "error", err)
		}
	})
}

// Write stores how far pipelines are.
func (f *Floors) Write(ctx context.Context) error {
	bound := f.listeners.Bound()
	states, untold := f.states(ctx, bound)
	for id := range bound {
		if info := states[id]; info != nil {
			if err := f.raise(ctx, id, info.AckFloor.Stream); err != nil {
				return err
			}
		}
	}
	return untold
}

// raise stores a floor if it is above the one before. Several nodes may do so
// at the same time: it never sinks.
func (f *Floors) raise(ctx context.Context, binding string, sequence uint64) error {
	if sequence <= f.Of(binding) {
		return nil
	}
	_, err := f.floors.Change(ctx, binding, func(before *floor, _ map[string]*floor) (*floor, error) {
		if before != nil && before.Sequence > sequence {
			return before, nil
		}
		return &floor{sequence}, nil
	})
	return err
}

// drop deletes the floor of a binding.
func (f *Floors) drop(ctx context.Context, binding string) error {
	if f.Of(binding) == 0 {
		return nil
	}
	_, err := f.floors.Change(ctx, binding, func(*floor, map[string]*floor) (*floor, error) { return nil, nil })
	return err
}

// Lower lowers the floors that are above a sequence.
func (f *Floors) Lower(ctx context.Context, sequence uint64) error {
	for _, binding := range f.floors.Keys(func(known *floor) bool { return known.Sequence > sequence }) {
		_, err := f.floors.ChangeEarly(ctx, binding, func(*floor, map[string]*floor) (*floor, error) { return &floor{sequence}, nil })
		if err != nil {
			return err
		}
	}
	return nil
}
