package jetstream

import (
	"context"
	"time"
)

// floorEvery is how often it is written down how far pipelines are.
const floorEvery = 10 * time.Second

// A floor is the place in the stream of events up to which a pipeline is done.
// The engine keeps that as well, but writes it without a sync: after a power cut
// it may begin at the start again. Then events up to the floor are not run
// anew, and those behind it only if they have no outcome.
type floor struct {
	Sequence uint64 `json:"sequence"`
}

// floorOf gives the floor of a binding.
func (q *Queue) floorOf(binding string) uint64 {
	if f := q.engine.floors.copied(binding); f != nil {
		return f.Sequence
	}
	return 0
}

// keepFloors writes the floors down until ctx ends.
func (q *Queue) keepFloors(ctx context.Context) {
	every(ctx, floorEvery, func(time.Time) {
		if err := q.writeFloors(ctx); err != nil && ctx.Err() == nil && q.engine.Ready() == nil {
			q.engine.log.Warn("How far pipelines are could not be written down.", "error", err)
		}
	})
}

func (q *Queue) writeFloors(ctx context.Context) error {
	if err := q.engine.events.markEnd(ctx); err != nil {
		return err
	}
	bound := q.engine.events.listeners.bound()
	consumers := q.engine.events.stream.ListConsumers(ctx)
	for info := range consumers.Info() {
		if bound[info.Name] != "" && info.AckFloor.Stream > q.floorOf(info.Name) {
			if err := q.setFloor(ctx, info.Name, &floor{info.AckFloor.Stream}); err != nil {
				return err
			}
		}
	}
	return consumers.Err()
}

// setFloor writes a floor down, or drops it if f is nil. Several nodes may do so
// at the same time: it never sinks.
func (q *Queue) setFloor(ctx context.Context, binding string, f *floor) error {
	_, err := q.engine.floors.change(ctx, binding, func(before *floor, _ map[string]*floor) (*floor, error) {
		if before != nil && f != nil && before.Sequence > f.Sequence {
			return before, nil
		}
		return f, nil
	})
	return err
}

// lowerFloors lowers the floors that are above a place.
func (q *Queue) lowerFloors(ctx context.Context, sequence uint64) error {
	var above []string
	q.engine.floors.mu.RLock()
	for binding, f := range q.engine.floors.records {
		if f.Sequence > sequence {
			above = append(above, binding)
		}
	}
	q.engine.floors.mu.RUnlock()
	for _, binding := range above {
		_, err := q.engine.floors.store(ctx, binding, func(*floor, map[string]*floor) (*floor, error) { return &floor{sequence}, nil })
		if err != nil {
			return err
		}
	}
	return nil
}
