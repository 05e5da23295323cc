package journal

import (
	"context"
	"math"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/jetstream/stream"
)

// unlisted is how long the journal may lack a failure, and consumers an event.
const unlisted = 2 * time.Second

// failed says which events a search for failed ones looks at: those that
// the journal lists or may list soon, and those whose pipeline was deleted or
// no longer listens to them, as long as their results are kept.
type failed struct {
	blocks    map[string]uint64 // subjects of the lists
	listed    map[uint64]bool   // events of the block that the walk is in
	listeners []listener        // pipelines that listen
	bound     nameBits          // those of them that take the events of the block
	kept      int64             // since when results are kept, in milliseconds
	recent    int64             // since when failures may not be listed
}

// A listener is a pipeline that takes events from a sequence on.
type listener struct {
	name  nameBits
	start uint64
}

// failed asks the engine for the subjects of the lists of failed events.
func (s *search) failed(ctx context.Context) (*failed, error) {
	f := new(failed)
	for _, p := range s.about.Bound() {
		f.listeners = append(f.listeners, listener{bitsOf(p.Name), p.Binding.Start})
	}
	info, err := s.chunks.Info(ctx, jetstream.WithSubjectFilter(failedPrefix+">"))
	if err != nil {
		return nil, stream.NoAnswer(err)
	}
	f.blocks = info.State.Subjects
	return f, nil
}

// loadFailed reads the list of failed events of the block that the walk has
// come to.
func (w *eventWalk) loadFailed(ctx context.Context) error {
	w.failed.listed = make(map[uint64]bool)
	w.failed.bound = 0
	for _, t := range w.failed.listeners {
		if t.start <= w.number*indexed {
			w.failed.bound |= t.name
		}
	}
	w.failed.kept = time.Now().Add(-w.about.ResultAge).UnixMilli()
	w.failed.recent = time.Now().Add(-unlisted).UnixMilli()
	subject := failedSubject(w.number * indexed)
	if w.failed.blocks[subject] == 0 {
		return nil
	}
	lines, err := w.linesOf(ctx, subject)
	for _, l := range lines {
		w.failed.listed[l.sequence] = true
	}
	return err
}

// may reports whether an event may have failed.
func (f *failed) may(sequence uint64, m *entry) bool {
	return f.listed[sequence] || m.at >= f.recent || m.at >= f.kept && !f.bound.has(m.pipelines)
}

// unfinished says which events a search for those in progress looks at: those that
// a pipeline may not be done with.
type unfinished struct {
	lagging []lagging
	done    map[nameBits]uint64 // the event up to which a set of pipelines is done
	waits   func(sequence uint64) bool
	recent  int64 // since when consumers may not count events, in milliseconds
}

// lagging is a pipeline with unfinished events, and the event up to which it is done.
type lagging struct {
	name nameBits
	done uint64
}

// unfinished asks the engine how far pipelines are.
func (s *search) unfinished(ctx context.Context) (*unfinished, error) {
	u := &unfinished{done: make(map[nameBits]uint64), waits: s.about.Waits, recent: time.Now().Add(-unlisted).UnixMilli()}
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
