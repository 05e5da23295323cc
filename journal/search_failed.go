package journal

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/jetstream/stream"
)

// unlisted is how young an event is whose failure may not be in the journal yet,
// or that a consumer may not count yet.
const unlisted = 2 * time.Second

// failed tells which events a search for failed ones has to look at: those that
// the journal lists or may still come to list, and those whose pipeline was
// deleted or listens to something else by now, as long as that is its result.
type failed struct {
	blocks map[string]uint64 // subjects of the lists that there are
	listed map[uint64]bool   // events of the block that the walk is in
	takers []taker           // pipelines that listen
	bound  nameBits          // those of them that take the events of the block
	kept   int64             // from when on results are kept, in milliseconds
	recent int64             // and from when on failures may not be listed
}

// A taker is a pipeline that takes events from a place on.
type taker struct {
	name  nameBits
	start uint64
}

// takers gives the pipelines that listen.
func (s *search) takers() (all []taker) {
	for _, p := range s.about.Bound() {
		all = append(all, taker{bitsOf(p.Name), p.Binding.Start})
	}
	return all
}

// failedBlocks gives the subjects of the lists of failed events.
func (s *search) failedBlocks(ctx context.Context) (map[string]uint64, error) {
	info, err := s.pages.Info(ctx, jetstream.WithSubjectFilter(failedPrefix+">"))
	if err != nil {
		return nil, stream.NoAnswer(err)
	}
	return info.State.Subjects, nil
}

// loadFailed learns of the failed events of the block that the walk has come to.
func (w *eventWalk) loadFailed(ctx context.Context) error {
	w.failed.listed = make(map[uint64]bool)
	w.failed.bound = 0
	for _, t := range w.failed.takers {
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

// may tells whether an event may have failed.
func (f *failed) may(sequence uint64, m *mark) bool {
	return f.listed[sequence] || m.at >= f.recent || m.at >= f.kept && !f.bound.has(m.pipelines)
}
