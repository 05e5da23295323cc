package journal

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/stream"
)

// urgency orders statuses: that of a call is the most urgent of its pipelines'.
var urgency = []sluice.Status{
	sluice.StatusOK, sluice.StatusRecovered, sluice.StatusError, sluice.StatusProcessing, sluice.StatusRetrying,
}

// status returns how far an event has come, and when it is tried again.
func (j *Journal) status(
	ctx context.Context, e correlation.Envelope, runs []sluice.RunReport, settled map[string]sluice.Status,
) (status sluice.Status, next time.Time, err error) {
	most := 0
	for _, name := range e.Listeners {
		is, known := settled[name]
		if !known {
			var due time.Time
			if is, due, err = j.unsettled(ctx, e, name, runs); err != nil {
				return "", next, err
			}
			if next.IsZero() || !due.IsZero() && due.Before(next) {
				next = due
			}
		}
		most = max(most, slices.Index(urgency, is))
	}
	return urgency[most], next, nil
}

// unsettled returns how far a pipeline has come without an outcome in the
// journal: it still runs, or the outcome was lost in a crash.
func (j *Journal) unsettled(
	ctx context.Context, e correlation.Envelope, pipeline string, runs []sluice.RunReport,
) (status sluice.Status, next time.Time, err error) {
	outcome, err := j.about.Outcome(ctx, e, pipeline)
	switch {
	case err == nil && outcome == nil:
		retries, next, err := j.about.Retries(ctx, e, pipeline)
		if retries {
			return sluice.StatusRetrying, next, err
		}
		return sluice.StatusProcessing, next, err
	case err == nil:
		return outcome.Status, next, nil
	case sluice.AsError(err).Kind != sluice.Gone:
		return "", next, err
	}
	status = sluice.StatusOK
	for _, run := range runs {
		if run.Pipeline == pipeline {
			status = run.Status
		}
	}
	return status, next, nil
}

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
func (j *Journal) unfinished(ctx context.Context) (*unfinished, error) {
	u := &unfinished{
		done: make(map[nameBits]uint64), waits: j.about.Waits, recent: time.Now().Add(-unlisted).UnixMilli(),
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
