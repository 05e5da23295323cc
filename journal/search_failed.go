package journal

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/jetstream/stream"
)

// unlisted is how long the journal may lack a failure, and consumers an event.
const unlisted = 2 * time.Second

// failed says which events a search for failed ones has to look at: those that
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

// listeners returns the pipelines that listen.
func (s *search) listeners() (all []listener) {
	for _, p := range s.about.Bound() {
		all = append(all, listener{bitsOf(p.Name), p.Binding.Start})
	}
	return all
}

// failedBlocks returns the subjects of the lists of failed events.
func (s *search) failedBlocks(ctx context.Context) (map[string]uint64, error) {
	info, err := s.chunks.Info(ctx, jetstream.WithSubjectFilter(failedPrefix+">"))
	if err != nil {
		return nil, stream.NoAnswer(err)
	}
	return info.State.Subjects, nil
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
func (f *failed) may(sequence uint64, m *mark) bool {
	return f.listed[sequence] || m.at >= f.recent || m.at >= f.kept && !f.bound.has(m.pipelines)
}
