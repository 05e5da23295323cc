package journal

import (
	"context"
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
	low     uint64                    // start of the window that was read
	reached time.Time                 // when the start was stored; zero: nothing was read
	read    []*jetstream.RawStreamMsg // messages of the window that are left
	lines   []line                    // of the last message, those that are left
	found   *sluice.Call
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

// pass skips the last line, which peek has looked at.
func (w *looseWalk) pass() {
	w.found = nil
	w.lines = w.lines[:len(w.lines)-1]
	w.line++
	w.endMessage()
}

// endMessage goes on with the previous message if no lines of this one are left.
func (w *looseWalk) endMessage() {
	if len(w.lines) == 0 {
		last := len(w.read) - 1
		w.before, w.line, w.read = w.read[last].Sequence, 0, w.read[:last]
	}
}

// peek returns the next call that matches, nil if there is none since a time or
// the search has read as much as it may.
func (w *looseWalk) peek(ctx context.Context, since time.Time) (*sluice.Call, error) {
	for w.found == nil && !w.passed(since) {
		if len(w.read) == 0 {
			w.before = min(w.before, w.low)
		}
		switch {
		case len(w.lines) > 0:
			w.found = w.call(w.lines[len(w.lines)-1])
			if c := w.found; c == nil || !w.matches(c) || !w.hasCode(c) || !w.mentions(c) ||
				w.q.Status != "" && c.Status != w.q.Status {
				w.pass()
			}
		case len(w.read) > 0:
			w.lines = parseLines(w.read[len(w.read)-1].Data)
			w.lines = w.lines[:max(0, len(w.lines)-w.line)]
			w.endMessage()
		// One window in any case: events may take all of the time on each page.
		case w.before <= w.first, w.allow.window <= 0, !w.reached.IsZero() && w.allow.late():
			return nil, nil
		default:
			if err := w.readWindow(ctx); err != nil {
				return nil, err
			}
		}
	}
	return w.found, nil
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
	for msg, err := range w.host.All(ctx, stream.Loose, stream.Range{
		Sequence: w.low, Subject: subject, Count: int(min(1000, behind-w.low)),
	}) {
		if err != nil {
			return err
		}
		if msg.Sequence < behind {
			w.read = append(w.read, msg)
		}
		if msg.Sequence+1 >= behind {
			break
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
		call := found(sluice.Call{
			TraceID: run.TraceID, User: run.User, Time: run.Started, Status: run.Status, Duration: run.Duration,
		})
		addRun(&call, run)
		return &call
	}
	return nil
}

func (s *search) looseWalk(ctx context.Context) (*looseWalk, error) {
	w := &looseWalk{
		search: s, window: firstWindow, runs: s.owner == sluice.DirectCall || s.owner == "" && s.q.Pipeline != "",
	}
	switch {
	case s.q.Status == sluice.StatusProcessing || s.q.Status == sluice.StatusRetrying ||
		s.q.Status == sluice.StatusRecovered,
		!w.runs && s.q.Pipeline != "",
		!w.runs && s.q.Status != "" && s.q.Status != sluice.StatusRejected && s.q.Status != sluice.StatusHandshake:
		return w, nil // nothing here can match
	}
	var err error
	w.first, w.before, err = s.between(ctx, s.loose)
	w.low = w.before
	return w, err
}

const (
	firstWindow  = 64
	largerWindow = 8 // times the previous one
	maxWindow    = 1 << 14
)
