package journal

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

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
	behind uint64 // behind the newest event
	before uint64 // where to go on: the events before this one are left
	found  *sluice.Call
	at     uint64 // sequence of found

	number  uint64   // of the block below
	entries *entries // nil: none was read yet
	chunk   chunk
	below   *eventWalk          // for what the runs of an event have sent
	looked  lookedInto          // for a search in payloads
	asOf    uint64              // outcomes that were stored later than this one don't count; 0: all do
	reached map[uint64]progress // how far events below have come, without their runs: those are found once

	failed     *failed     // for a search for failed events
	unfinished *unfinished // for a search for events in progress
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
	if err := w.learn(ctx); err != nil {
		return nil, err
	}
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
		w.unfinished.note(w.before-1, m)
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
	w.entries, err = w.index.block(ctx, number, first, int(sequence%indexed), w.allow)
	if err != nil || w.failed == nil {
		return err
	}
	return w.failed.load(ctx, w.Journal, number)
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
		return m.pipelines != 0 && (w.unfinished.may(sequence, m) || w.unfinished.traces[m.trace])
	}
	return true
}

// learn looks for events in progress behind those that the search is for: what these have set off
// came later.
func (w *eventWalk) learn(ctx context.Context) error {
	if w.unfinished == nil {
		return nil
	}
	for ; w.behind > w.before; w.behind-- {
		if err := w.load(ctx, w.behind-1); err != nil {
			return err
		}
		w.unfinished.note(w.behind-1, &w.entries[(w.behind-1)%indexed])
	}
	return nil
}

// call returns what is known of an event, nil if it is gone.
func (w *eventWalk) call(ctx context.Context, sequence uint64) (*sluice.Call, error) {
	call, e, lines, err := w.read(ctx, sequence)
	if call == nil || err != nil {
		return nil, err
	}
	if w.q.Pipeline != "" && !slices.Contains(e.Listeners, w.q.Pipeline) || !w.q.Cover.Call(call) {
		return nil, nil
	}
	runs := slices.Clone(call.Runs)
	w.q.Cover.HideRuns(call)
	call.Duplicates = duplicates(lines, call.TraceID)
	if fits, err := w.fits(ctx, call, sequence); !fits || err != nil {
		return nil, err
	}
	p, err := w.progress(ctx, e, runs, lines)
	call.Status, call.Next, call.Runs = p.status, p.next, append(call.Runs, p.runs...)
	return call, err
}

// read returns an event with its own runs, nil if it is gone, and what the journal has about it.
func (w *eventWalk) read(
	ctx context.Context, sequence uint64,
) (call *sluice.Call, e correlation.Envelope, lines []line, err error) {
	if w.chunk.subject != chunkSubject(sequence) {
		w.allow.chunks--
		read, err := w.Journal.chunk(ctx, sequence)
		if err != nil {
			return nil, e, nil, err
		}
		w.chunk = read
	}
	lines = w.chunk.about(sequence)
	if call, e, err = w.subject(ctx, sequence, lines); call == nil || err != nil {
		return nil, e, nil, err
	}
	call.CorrelationID = w.ids.ID(sequence, call.TraceID)
	for _, l := range lines {
		if run, ok := l.run(); ok && w.ids.Same(run.CorrelationID, sequence, call.TraceID) {
			addRun(call, run)
		}
		if o, ok := decode[runOutcome](l, lineOutcome); ok && o.TraceID == call.TraceID && !o.Time.IsZero() {
			call.Runs = append(call.Runs, o.report())
		}
	}
	slices.SortStableFunc(call.Runs, func(a, b sluice.RunReport) int { // in the order in which they began
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Attempt, b.Attempt))
	})
	return call, e, lines, nil
}

// subject returns a call without its runs, from its line in the journal or, if
// there is none, from the event itself.
func (w *eventWalk) subject(
	ctx context.Context, sequence uint64, lines []line,
) (*sluice.Call, correlation.Envelope, error) {
	e := correlation.Envelope{Sequence: sequence}
	for _, l := range lines {
		if call, subject, ok := l.call(); ok {
			e.Subject, e.TraceID, e.Received, e.Listeners = subject, call.TraceID, call.Time, call.Listeners
			e.EventKey, e.Key, e.Origin = call.EventKey, call.Key, call.Origin
			call = found(call)
			return &call, e, nil
		}
	}
	msg, err := stream.Found(w.events.GetMsg(ctx, sequence))
	if msg == nil || err != nil {
		return nil, e, err
	}
	w.allow.read(len(msg.Data))
	if e, err = correlation.ReadEnvelope(msg); err != nil {
		return nil, e, nil //nolint:nilerr // nothing to show
	}
	if e.Foreign {
		e.Listeners = w.about.Receivers(e)
	}
	call := found(sluice.Call{
		TraceID: e.TraceID, DeliveryID: e.DeliveryID, EventKey: e.EventKey, Key: e.Key, Type: e.Type,
		ReplayOf: e.ReplayOf, Time: e.Received.UTC(), Due: e.Due, Origin: e.Origin,
		Batch: e.Batch, Split: e.Split,
		Sent: e.Hops > 0 || sluice.TraceOwner(e.TraceID) == sluice.DirectCall,
	})
	return &call, e, nil
}

// fits reports whether an event with its runs has the code and the text of the
// query.
func (w *eventWalk) fits(ctx context.Context, c *sluice.Call, sequence uint64) (bool, error) {
	switch {
	case !w.hasCode(c):
		return false, nil
	case w.mentions(c):
		return true, nil
	case !w.q.InPayload || !w.q.Known.Call(c):
		return false, nil
	}
	return w.looked.into(ctx, w.search, &w.chunk, sequence, func(at uint64) bool {
		m := &w.entries[at%indexed]
		return at >= w.first && w.may(m) && w.mayHaveStatus(at, m)
	})
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
		w.behind = s.events.CachedInfo().State.LastSeq + 1
		w.unfinished, err = s.unfinished(ctx)
	case sluice.StatusError, sluice.StatusRecovered:
		w.failed, err = s.failed(ctx)
	}
	return w, err
}
