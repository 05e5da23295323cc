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
func (j *Journal) failed(ctx context.Context) (*failed, error) {
	f := new(failed)
	for _, p := range j.about.Bound() {
		f.listeners = append(f.listeners, listener{bitsOf(p.Name), p.Binding.Start})
	}
	info, err := j.chunks.Info(ctx, jetstream.WithSubjectFilter(failedPrefix+">"))
	if err != nil {
		return nil, stream.NoAnswer(err)
	}
	f.blocks = info.State.Subjects
	return f, nil
}

// load reads the list of failed events of a block.
func (f *failed) load(ctx context.Context, j *Journal, number uint64) error {
	f.listed, f.bound = make(map[uint64]bool), 0
	for _, l := range f.listeners {
		if l.start <= number*indexed {
			f.bound |= l.name
		}
	}
	now := time.Now()
	f.kept, f.recent = now.Add(-j.about.ResultAge).UnixMilli(), now.Add(-unlisted).UnixMilli()
	subject := failedSubject(number * indexed)
	if f.blocks[subject] == 0 {
		return nil
	}
	lines, err := j.linesOf(ctx, subject)
	for _, l := range lines {
		f.listed[l.sequence] = true
	}
	return err
}

// unfinished says which events a search for those in progress looks at: those that
// a pipeline may not be done with.
type unfinished struct {
	lagging []lagging
	done    map[nameBits]uint64 // the event up to which a set of pipelines is done
	traces  map[uint32]bool     // hashes of the trace ids of such events
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

// note notes an event that may still be in progress: so may what has set it off.
func (u *unfinished) note(sequence uint64, m *entry) {
	if u != nil && m.pipelines != 0 && u.may(sequence, m) {
		u.traces[m.trace] = true
	}
}

// lagging is a pipeline with unfinished events, and the event up to which it is done.
type lagging struct {
	name nameBits
	done uint64
}

// unfinished asks the engine how far pipelines are.
func (j *Journal) unfinished(ctx context.Context) (*unfinished, error) {
	u := &unfinished{
		done: make(map[nameBits]uint64), traces: make(map[uint32]bool), waits: j.about.Waits,
		recent: time.Now().Add(-unlisted).UnixMilli(),
	}
	bound := j.about.Bound()
	consumers := j.events.ListConsumers(ctx)
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
