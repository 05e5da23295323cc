package journal

import (
	"context"
	"math"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
)

// A looseWalk goes through the rejected calls and runs without an event that
// match a search, newest first. The engine reads only forward, so the walk
// reads windows that grow as it goes back.
type looseWalk struct {
	*search

	runs   bool   // runs that users have started are searched
	first  uint64 // where to end
	before uint64 // where to go on: the messages before this one are left
	line   int    // how many lines at the end of the next message were passed

	window  uint64
	low     uint64          // start of the window that was read
	reached time.Time       // when the start was stored; zero: nothing was read
	read    []stream.Stored // messages of the window that are left
	lines   []line          // of the last message, those that are left
	loaded  bool
	found   *sluice.Call
}

const (
	firstWindow  = 64
	largerWindow = 8 // times the previous one
	maxWindow    = 1 << 14
)

func (s *search) looseWalk(ctx context.Context) (*looseWalk, error) {
	w := &looseWalk{search: s, window: firstWindow, runs: s.owner == sluice.DirectCall || s.owner == "" && s.q.Pipeline != ""}
	switch {
	case s.q.Status == sluice.StatusProcessing || s.q.Status == sluice.StatusRetrying || s.q.Status == sluice.StatusRecovered,
		!w.runs && s.q.Pipeline != "",
		!w.runs && s.q.Status != "" && s.q.Status != sluice.StatusRejected && s.q.Status != sluice.StatusHandshake:
		return w, nil // nothing here can match
	}
	var err error
	w.first, w.before, err = s.between(ctx, s.loose)
	w.low = w.before
	return w, err
}

func (w *looseWalk) resume(before uint64, line int) {
	if before <= w.before {
		w.before, w.line, w.low = before, line, before
	}
}

// done reports whether there is nothing left.
func (w *looseWalk) done() bool { return w.found == nil && w.before <= w.first }

// passed reports whether all that is left is older than a time: an entry is
// stored after the call or run that it is about.
func (w *looseWalk) passed(since time.Time) bool {
	return w.done() || len(w.read) == 0 && !w.reached.IsZero() && w.reached.Before(since)
}

// pass skips the call that peek returned.
func (w *looseWalk) pass() {
	w.step()
	w.found = nil
}

// peek returns the next call that matches, nil if there is none since a time or
// the search has read as much as it may.
func (w *looseWalk) peek(ctx context.Context, since time.Time) (*sluice.Call, error) {
	for w.found == nil && !w.passed(since) {
		ok, err := w.load(ctx)
		if !ok || err != nil {
			return nil, err
		}
		if len(w.lines) == 0 {
			continue
		}
		call := w.call(w.lines[len(w.lines)-1])
		if call == nil || !w.matches(call) || !w.hasCode(call) || !w.mentions(call) || w.q.Status != "" && call.Status != w.q.Status {
			w.step()
			continue
		}
		w.found = call
	}
	return w.found, nil
}

// step skips the last line.
func (w *looseWalk) step() {
	w.lines = w.lines[:len(w.lines)-1]
	w.line++
	if len(w.lines) == 0 {
		w.endMessage()
	}
}

// endMessage goes on with the previous message.
func (w *looseWalk) endMessage() {
	w.before, w.line, w.loaded = w.read[len(w.read)-1].Sequence, 0, false
	w.read = w.read[:len(w.read)-1]
}

// load makes the next lines ready; not ok says that the search has read as much as it
// may.
func (w *looseWalk) load(ctx context.Context) (ok bool, err error) {
	if w.loaded {
		return true, nil
	}
	if len(w.read) == 0 {
		w.before = min(w.before, w.low)
		if w.before <= w.first {
			return true, nil
		}
		// One window in any case: events may take all of the time on each page.
		if w.allow.window <= 0 || !w.reached.IsZero() && w.allow.late() {
			return false, nil
		}
		return true, w.readWindow(ctx)
	}
	w.lines = parseLines(w.read[len(w.read)-1].Data)
	w.lines = w.lines[:max(0, len(w.lines)-w.line)]
	w.loaded = true
	if len(w.lines) == 0 {
		w.endMessage()
	}
	return true, nil
}

// readWindow reads the messages of the next window.
func (w *looseWalk) readWindow(ctx context.Context) error {
	behind := w.before
	w.low = w.first
	if behind > w.first+w.window {
		w.low = behind - w.window
	}
	w.allow.window -= int64(behind - w.low)
	w.window = min(w.window*largerWindow, maxWindow)
	subject := "" // any
	switch {
	case w.runs:
		subject = looseSubject(sluice.DirectCall)
	case w.owner != "":
		subject = looseSubject(w.owner)
	}
	for from := w.low; from < behind; {
		messages, err := w.host.Fetch(ctx, stream.Loose, stream.Range{Sequence: from, Subject: subject, Count: int(min(1000, behind-from))})
		if err != nil {
			return err
		}
		if len(messages) == 0 {
			break
		}
		for _, msg := range messages {
			if msg.Sequence < behind {
				w.read = append(w.read, msg)
			}
			from = msg.Sequence + 1
		}
	}
	return w.noteReached(ctx)
}

// noteReached finds out when the start of the window was stored.
func (w *looseWalk) noteReached(ctx context.Context) error {
	if len(w.read) > 0 {
		w.reached = w.read[0].Time
		return nil
	}
	begin, err := w.host.Fetch(ctx, stream.Loose, stream.Range{Sequence: w.low, Count: 1})
	if err == nil && len(begin) > 0 {
		w.reached = begin[0].Time
	}
	return err
}

// call returns the call that a line is about, nil if it doesn't fit the query.
func (w *looseWalk) call(l line) *sluice.Call {
	if call, _, ok := l.call(); ok && w.q.Pipeline == "" {
		call = found(call)
		return &call
	}
	if run, ok := l.run(); ok && w.runs && (w.q.Pipeline == "" || run.Pipeline == w.q.Pipeline) {
		call := found(sluice.Call{TraceID: run.TraceID, User: run.User, Time: run.Started, Status: run.Status, Duration: run.Duration})
		addRun(&call, run)
		return &call
	}
	return nil
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
