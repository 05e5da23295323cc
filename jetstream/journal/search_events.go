package journal

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"time"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/stream"
)

// An eventWalk goes through the stored events that match a search, newest
// first. The index says which to look at; chunks of the journal say how they
// went. So a search reads few of the events themselves: for each, the engine
// would load a whole block.
type eventWalk struct {
	*search

	first  uint64 // where to end
	before uint64 // where to go on: the events before this one are left
	found  *sluice.Call
	at     uint64 // sequence of found

	number  uint64   // of the block below
	entries *entries // nil: none was read yet
	chunk   chunk
	looked  lookedInto // for a search in payloads

	failed     *failed     // for a search for failed events
	unfinished *unfinished // for a search for events in progress
}

func (s *search) eventWalk(ctx context.Context) (*eventWalk, error) {
	w := &eventWalk{search: s, looked: lookedInto{first: math.MaxUint64}}
	if s.q.Status == sluice.StatusRejected || s.q.Status == sluice.StatusHandshake {
		return w, nil
	}
	var err error
	if w.first, w.before, err = s.between(ctx, s.events); err != nil {
		return nil, err
	}
	switch s.q.Status {
	case sluice.StatusProcessing, sluice.StatusRetrying:
		w.unfinished, err = s.unfinished(ctx)
	case sluice.StatusError, sluice.StatusRecovered:
		w.failed, err = s.failed(ctx)
	}
	return w, err
}

// done reports whether there is nothing left.
func (w *eventWalk) done() bool { return w.found == nil && w.before <= w.first }

// pass skips the call that peek returned.
func (w *eventWalk) pass() {
	w.before = w.at
	w.found = nil
}

// peek returns the next call that matches, nil if there is none or the search
// has read as much as it may. What was read ahead is looked at in any case: most of
// the work is done by then.
func (w *eventWalk) peek(ctx context.Context) (*sluice.Call, error) {
	for w.found == nil && w.before > w.first && (w.before > w.looked.first || !w.allow.spent()) {
		if err := w.load(ctx, w.before-1); err != nil {
			return nil, err
		}
		if !w.skip() {
			continue
		}
		sequence := w.before - 1
		if w.entries[sequence%indexed].owner == entryUnknown {
			return nil, nil // the allowance is spent
		}
		call, err := w.call(ctx, sequence)
		if errors.Is(err, errLater) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if call == nil || !w.matches(call) || w.q.Status != "" && call.Status != w.q.Status {
			w.before--
			continue
		}
		w.found, w.at = call, sequence
	}
	return w.found, nil
}

// skip goes back to the next event of the block that may match, and reports whether
// there is one. A search spends most of its time here.
func (w *eventWalk) skip() bool {
	for lowest := max(w.first, w.number*indexed); w.before > lowest; w.before-- {
		m := &w.entries[(w.before-1)%indexed]
		if m.owner == entryUnknown || w.may(m) && w.mayHaveStatus(w.before-1, m) {
			return true
		}
	}
	return false
}

// load makes sure that the entries of the event's block are there.
func (w *eventWalk) load(ctx context.Context, sequence uint64) (err error) {
	number := sequence / indexed
	if w.entries != nil && w.number == number {
		return nil
	}
	first := 0
	if w.first > number*indexed {
		first = int(w.first % indexed)
	}
	w.allow.blocks--
	w.number = number
	if w.entries, err = w.index.block(ctx, number, first, int(sequence%indexed), w.allow); err != nil || w.failed == nil {
		return err
	}
	return w.loadFailed(ctx)
}

// may reports whether an event may fit the query.
func (w *eventWalk) may(m *entry) bool {
	switch {
	case m.owner == entryAbsent,
		w.want.owner != 0 && m.owner != w.want.owner,
		w.want.trace != 0 && m.trace != w.want.trace,
		w.want.key != 0 && m.key != w.want.key,
		!m.pipelines.has(w.want.pipelines),
		m.at < w.since, m.at > w.until:
		return false
	}
	return true
}

// mayHaveStatus reports whether an event may have the status of the query.
func (w *eventWalk) mayHaveStatus(sequence uint64, m *entry) bool {
	switch w.q.Status {
	case sluice.StatusError, sluice.StatusRecovered:
		return m.pipelines != 0 && w.failed.may(sequence, m)
	case sluice.StatusProcessing, sluice.StatusRetrying:
		return m.pipelines != 0 && w.unfinished.may(sequence, m)
	}
	return true
}

// A chunk is what the journal has about 64 successive events.
type chunk struct {
	subject string
	lines   []line // in the order of their events
}

// about returns the lines about an event, each once.
func (c *chunk) about(sequence uint64) []line {
	first, _ := slices.BinarySearchFunc(c.lines, sequence, func(l line, s uint64) int { return cmp.Compare(l.sequence, s) })
	var found []line
	for _, l := range c.lines[first:] {
		if l.sequence != sequence {
			break
		}
		if !slices.ContainsFunc(found, func(f line) bool { return f.kind == l.kind && bytes.Equal(f.data, l.data) }) {
			found = append(found, l)
		}
	}
	return found
}

// loadChunk makes sure that the event's chunk is there.
func (w *eventWalk) loadChunk(ctx context.Context, sequence uint64) error {
	subject := chunkSubject(sequence)
	if w.chunk.subject == subject {
		return nil
	}
	w.allow.chunks--
	lines, err := w.linesOf(ctx, subject)
	if err != nil {
		return err
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(a.sequence, b.sequence) })
	w.chunk = chunk{subject, lines}
	return nil
}

// linesOf returns all lines of a subject.
func (s *search) linesOf(ctx context.Context, subject string) (lines []line, err error) {
	const most = 1000
	for from := uint64(1); ; {
		messages, err := s.host.Fetch(ctx, stream.Journal, stream.Range{Sequence: from, Subject: subject, Count: most})
		if err != nil {
			return nil, err
		}
		size := 0
		for _, msg := range messages {
			lines = append(lines, parseLines(msg.Data)...)
			from = msg.Sequence + 1
			size += len(msg.Data)
		}
		if len(messages) < most && size < stream.FetchBytes/2 {
			return lines, nil
		}
	}
}

// call returns what is known of an event, nil if it is gone.
func (w *eventWalk) call(ctx context.Context, sequence uint64) (*sluice.Call, error) {
	if err := w.loadChunk(ctx, sequence); err != nil {
		return nil, err
	}
	lines := w.chunk.about(sequence)
	call, e, err := w.subject(ctx, sequence, lines)
	if call == nil || err != nil {
		return nil, err
	}
	if w.q.Pipeline != "" && !slices.Contains(e.Listeners, w.q.Pipeline) || !w.q.Cover.Call(call) {
		return nil, nil
	}
	call.CorrelationID = w.ids.ID(sequence, call.TraceID)
	for _, l := range lines {
		if run, ok := l.run(); ok && w.ids.Same(run.CorrelationID, sequence, call.TraceID) {
			addRun(call, run)
		}
	}
	sortRuns(call.Runs)
	runs := slices.Clone(call.Runs)
	w.q.Cover.HideRuns(call)
	call.Duplicates = duplicates(lines, call.TraceID)
	if fits, err := w.fits(ctx, call, sequence); !fits || err != nil {
		return nil, err
	}
	call.Status, call.Next, err = w.status(ctx, e, runs, settled(lines, call.CorrelationID, call.TraceID))
	return call, err
}

// settled returns how an event ended in each pipeline that is done with it.
func settled(lines []line, correlationID, traceID string) map[string]sluice.Status {
	settled := make(map[string]sluice.Status)
	for _, l := range lines {
		var outcome runOutcome
		if l.kind == lineOutcome && json.Unmarshal(l.data, &outcome) == nil && outcome.TraceID == traceID {
			settled[outcome.Pipeline] = outcome.Status
		}
	}
	for _, l := range lines {
		var r recovery
		if l.kind == lineRecovery && json.Unmarshal(l.data, &r) == nil && r.CorrelationID == correlationID && settled[r.Pipeline] == sluice.StatusError {
			settled[r.Pipeline] = sluice.StatusRecovered
		}
	}
	return settled
}

// subject returns a call without its runs, from its line in the journal or, if
// there is none, from the event itself.
func (w *eventWalk) subject(ctx context.Context, sequence uint64, lines []line) (*sluice.Call, correlation.Envelope, error) {
	e := correlation.Envelope{Sequence: sequence}
	for _, l := range lines {
		if call, subject, ok := l.call(); ok {
			e.Subject, e.TraceID, e.Received, e.Listeners = subject, call.TraceID, call.Time, call.Listeners
			call = found(call)
			return &call, e, nil
		}
	}
	msg, err := storedEvent(ctx, w.events, sequence)
	if msg == nil || err != nil {
		return nil, e, err
	}
	w.allow.read(len(msg.Data))
	if e, err = correlation.ReadEnvelope(msg); err != nil {
		return nil, e, nil //nolint:nilerr // nothing to show
	}
	if e.Foreign {
		e.Listeners = w.about.Takers(e)
	}
	call := found(sluice.Call{TraceID: e.TraceID, EventKey: e.EventKey, Key: e.Key, ReplayOf: e.ReplayOf, Time: e.Received.UTC()})
	return &call, e, nil
}

// urgency orders statuses: that of a call is the most urgent of its pipelines'.
var urgency = []sluice.Status{sluice.StatusOK, sluice.StatusRecovered, sluice.StatusError, sluice.StatusProcessing, sluice.StatusRetrying}

// status returns how far an event has come, and when it is tried again.
func (w *eventWalk) status(ctx context.Context, e correlation.Envelope, runs []sluice.RunReport, settled map[string]sluice.Status) (status sluice.Status, next time.Time, err error) {
	most := 0
	for _, name := range e.Listeners {
		is, known := settled[name]
		if !known {
			var due time.Time
			if is, due, err = w.unsettled(ctx, e, name, runs); err != nil {
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
func (w *eventWalk) unsettled(ctx context.Context, e correlation.Envelope, pipeline string, runs []sluice.RunReport) (status sluice.Status, next time.Time, err error) {
	outcome, err := w.about.Outcome(ctx, e, pipeline)
	switch {
	case err == nil && outcome == nil:
		retries, next, err := w.about.Retries(ctx, e, pipeline)
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
