package journal

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/jetstream/stream"
)

// unlisted is how long the journal may lack a failure, and consumers an event.
const unlisted = 2 * time.Second

// failed says which events a search for failed ones looks at: those in the journal's list, or soon
// to be in it; and, as long as their results are kept, those without a pipeline that still
// listens.
type failed struct {
	blocks    map[string]uint64 // subjects of the lists
	listed    map[uint64]bool   // events of the block that the walk is in
	listeners []listener        // pipelines that listen
	bound     nameBits          // those of them that take the events of the block
	kept      int64             // since when results are kept, in milliseconds
	recent    int64             // since when failures may not be listed
}

// may reports whether an event may have failed.
func (f *failed) may(sequence uint64, m *entry) bool {
	return f.listed[sequence] || m.at >= f.recent || m.at >= f.kept && !f.bound.has(m.pipelines)
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
