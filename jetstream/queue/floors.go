package queue

import (
	"context"
	"errors"
	"maps"
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
//
// All floors are in one record, so that one write is enough for any number of
// pipelines. Earlier versions have stored a record for each binding: it is read
// as well, and dropped with the binding.
type floor struct {
	Sequence uint64            `json:"sequence,omitempty"` // of one binding, from earlier versions
	All      map[string]uint64 `json:"all,omitempty"`      // by binding
}

// allFloors is the key of the record with all floors. It is no id of a binding.
const allFloors = "all"

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
	sequence := uint64(0)
	if known := f.floors.Copy(binding); known != nil {
		sequence = known.Sequence
	}
	if known := f.floors.Copy(allFloors); known != nil {
		sequence = max(sequence, known.All[binding])
	}
	return sequence
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
	moved := make(map[string]uint64)
	for id := range bound {
		if info := states[id]; info != nil && info.AckFloor.Stream > f.Of(id) {
			moved[id] = info.AckFloor.Stream
		}
	}
	if len(moved) == 0 {
		return untold
	}
	// Several nodes may do so at the same time: no floor sinks.
	_, err := f.floors.Change(ctx, allFloors, func(before *floor, _ map[string]*floor) (*floor, error) {
		after := before.copy()
		for binding, sequence := range moved {
			after.All[binding] = max(after.All[binding], sequence)
		}
		return after, nil
	})
	return errors.Join(err, untold)
}

// copy returns a record of all floors that may be changed.
func (f *floor) copy() *floor {
	all := make(map[string]uint64)
	if f != nil {
		maps.Copy(all, f.All)
	}
	return &floor{All: all}
}

// drop deletes the floor of a binding.
func (f *Floors) drop(ctx context.Context, binding string) error {
	if f.floors.Copy(binding) != nil {
		if _, err := f.floors.Change(ctx, binding, func(*floor, map[string]*floor) (*floor, error) { return nil, nil }); err != nil {
			return err
		}
	}
	if f.Of(binding) == 0 {
		return nil
	}
	_, err := f.floors.Change(ctx, allFloors, func(before *floor, _ map[string]*floor) (*floor, error) {
		after := before.copy()
		delete(after.All, binding)
		return after, nil
	})
	return err
}

// Lower lowers the floors that are above a sequence.
func (f *Floors) Lower(ctx context.Context, sequence uint64) error {
	above := func(known *floor) bool {
		for _, other := range known.All {
			if other > sequence {
				return true
			}
		}
		return known.Sequence > sequence
	}
	for _, key := range f.floors.Keys(above) {
		_, err := f.floors.ChangeEarly(ctx, key, func(before *floor, _ map[string]*floor) (*floor, error) {
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
