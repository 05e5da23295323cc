package journal

import (
	"context"
	"math"
	"time"

	"sluice/jetstream/stream"
)

// unfinished says which events a search for those in progress looks at: those that
// a pipeline may not be done with.
type unfinished struct {
	lagging []lagging
	done    map[nameBits]uint64 // the event up to which a set of pipelines is done
	waits   func(sequence uint64) bool
	recent  int64 // since when consumers may not count events, in milliseconds
}

// may reports whether an event may still be in progress.
func (u *unfinished) may(sequence uint64, m *entry) bool {
	if m.at >= u.recent {
		return true
	}
	done, known := u.done[m.pipelines]
	if !known {
		done = math.MaxUint64
		for _, b := range u.lagging {
			if m.pipelines.has(b.name) {
				done = min(done, b.done)
			}
		}
		u.done[m.pipelines] = done
	}
	return sequence > done || u.waits(sequence)
}

// lagging is a pipeline with unfinished events, and the event up to which it is done.
type lagging struct {
	name nameBits
	done uint64
}

// unfinished asks the engine how far pipelines are.
func (s *search) unfinished(ctx context.Context) (*unfinished, error) {
	u := &unfinished{
		done: make(map[nameBits]uint64), waits: s.about.Waits, recent: time.Now().Add(-unlisted).UnixMilli(),
	}
	bound := s.about.Bound()
	consumers := s.events.ListConsumers(ctx)
	for info := range consumers.Info() {
		p := bound[info.Name]
		delete(bound, info.Name)
		switch {
		case p == nil:
		case info.NumAckPending > 0:
			u.lagging = append(u.lagging, lagging{bitsOf(p.Name), info.AckFloor.Stream})
		case info.NumPending > 0:
			u.lagging = append(u.lagging, lagging{bitsOf(p.Name), info.Delivered.Stream})
		}
	}
	for _, p := range bound { // it has no consumer yet
		u.lagging = append(u.lagging, lagging{name: bitsOf(p.Name)})
	}
	if err := consumers.Err(); err != nil {
		return nil, stream.NoAnswer(err)
	}
	return u, nil
}
