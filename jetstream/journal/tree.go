package journal

import (
	"cmp"
	"context"
	"slices"
	"time"

	"sluice"
	"sluice/jetstream/correlation"
)

// A call is as far as everything that it set off: the runs of its event, and those of the events that
// these runs have sent, and so on. An outcome has the sequences of what its run has sent, so they are
// found from above. That comes later: an earlier event is one that a run has not sent, since its delivery id was
// used before. Several ways may lead to an event, and it counts once.

// urgency orders statuses: that of a call is the most urgent of all its runs'.
var urgency = []sluice.Status{
	sluice.StatusOK, sluice.StatusRecovered, sluice.StatusError, sluice.StatusProcessing, sluice.StatusRetrying,
}

// progress is how far something has come.
type progress struct {
	status sluice.Status
	next   time.Time          // when it is tried again
	runs   []sluice.RunReport // of what was sent, as the user may see them
}

// join adds how far something else has come.
func (p *progress) join(other progress) {
	if slices.Index(urgency, other.status) > slices.Index(urgency, p.status) {
		p.status = other.status
	}
	if p.next.IsZero() || !other.next.IsZero() && other.next.Before(p.next) {
		p.next = other.next
	}
	p.runs = append(p.runs, other.runs...)
}

// progress returns how far an event has come, with all that its runs have sent.
func (w *eventWalk) progress(
	ctx context.Context, e correlation.Envelope, runs []sluice.RunReport, lines []line,
) (progress, error) {
	w.reached = nil
	return w.reach(ctx, e, runs, lines)
}

// reach is progress, of one of the events that are looked at together.
func (w *eventWalk) reach(
	ctx context.Context, e correlation.Envelope, runs []sluice.RunReport, lines []line,
) (p progress, err error) {
	p.status = sluice.StatusOK
	settled := make(map[string]runOutcome)
	for _, l := range lines {
		if outcome, ok := decode[runOutcome](l, lineOutcome); ok && outcome.TraceID == e.TraceID {
			settled[outcome.Pipeline] = outcome
		}
	}
	sent := sentBy(e.TraceID, lines)
	for _, name := range e.Listeners {
		outcome, known := settled[name]
		var of progress
		if !known {
			if outcome, of.next, err = w.unsettled(ctx, e, name, runs); err != nil {
				return p, err
			}
		}
		switch of.status = outcome.Status; {
		case w.isLater(outcome.Stored):
			of.status = sluice.StatusProcessing
		case of.status == sluice.StatusError:
			if of.status, err = w.repaired(ctx, e, name, lines); err != nil {
				return p, err
			}
		}
		p.join(of)
		sent = append(sent, outcome.Sent...) // it may have been entered just now
	}
	below, err := w.under(ctx, e.Sequence, sent)
	p.join(below)
	return p, err
}

// sentBy returns the sequences of what the runs of an event have sent, also in attempts that failed
// later, by the lines about the event.
func sentBy(traceID string, lines []line) (sent []uint64) {
	for _, l := range lines {
		if outcome, ok := decode[runOutcome](l, lineOutcome); ok && outcome.TraceID == traceID {
			sent = append(sent, outcome.Sent...)
		}
		if run, ok := l.run(); ok && run.TraceID == traceID {
			sent = append(sent, run.Sent...)
		}
	}
	return sent
}

// SentBy returns the sequences of what the runs of an event have sent, as far as the journal has heard.
func (j *Journal) SentBy(ctx context.Context, sequence uint64, traceID string) ([]uint64, error) {
	if err := j.flush(ctx); err != nil {
		return nil, err
	}
	chunk, err := j.chunk(ctx, sequence)
	return sentBy(traceID, chunk.about(sequence)), err
}

// isLater reports whether an outcome was stored after the moment that the walk asks for.
func (w *eventWalk) isLater(stored uint64) bool { return w.asOf != 0 && stored > w.asOf }

// repaired returns how far a pipeline has come that failed on an event: nothing has changed unless a
// replay went well, with all that it has sent.
func (w *eventWalk) repaired(
	ctx context.Context, e correlation.Envelope, pipeline string, lines []line,
) (sluice.Status, error) {
	for _, l := range lines {
		r, ok := decode[recovery](l, lineRecovery)
		if !ok || r.Pipeline != pipeline || !w.ids.Same(r.CorrelationID, e.Sequence, e.TraceID) || w.isLater(r.Stored) {
			continue
		}
		below, err := w.under(ctx, e.Sequence, r.Sent)
		if err != nil || below.status == sluice.StatusOK || below.status == sluice.StatusRecovered {
			return sluice.StatusRecovered, err
		}
	}
	return sluice.StatusError, nil
}

// maxBelow bounds the runs of sent events that a call is found with.
const maxBelow = 1000

// under returns how far events have come that the runs of one have sent.
func (w *eventWalk) under(ctx context.Context, event uint64, sent []uint64) (p progress, err error) {
	p.status = sluice.StatusOK
	if len(sent) == 0 {
		return p, nil
	}
	if w.below == nil {
		w.below = &eventWalk{search: w.search}
	}
	if w.reached == nil {
		w.reached = make(map[uint64]progress)
	}
	w.below.asOf, w.below.reached = w.asOf, w.reached
	slices.Sort(sent)
	for _, sequence := range sent {
		of, known := w.reached[sequence]
		if known || sequence <= event {
			p.join(of)
			continue
		}
		call, e, lines, err := w.below.read(ctx, sequence)
		if err != nil {
			return p, err
		}
		if call == nil {
			continue // it is gone
		}
		if of, err = w.below.reach(ctx, e, call.Runs, lines); err != nil {
			return p, err
		}
		w.reached[sequence] = progress{status: of.status, next: of.next}
		w.q.Cover.HideRuns(call)
		for _, run := range call.Runs {
			if run.EventKey = e.EventKey + e.Key; !w.q.Known.Call(call) {
				run.HidePayloads()
				run.Error.HideMessage()
			}
			if w.q.Cover.Call(call) {
				of.runs = append(of.runs, run)
			}
		}
		of.runs = of.runs[:min(len(of.runs), maxBelow-min(len(p.runs), maxBelow))]
		p.join(of)
	}
	return p, nil
}

// unsettled returns how far a pipeline has come without an outcome in the journal: it still runs, or
// the outcome was lost in a crash, and is entered now.
func (j *Journal) unsettled(
	ctx context.Context, e correlation.Envelope, pipeline string, runs []sluice.RunReport,
) (o runOutcome, next time.Time, err error) {
	outcome, err := j.about.Outcome(ctx, e, pipeline)
	switch {
	case err == nil && outcome == nil:
		retries, next, err := j.about.Retries(ctx, e, pipeline)
		o.Status = sluice.StatusProcessing
		if retries {
			o.Status = sluice.StatusRetrying
		}
		return o, next, err
	case err == nil:
		o = runOutcome{
			TraceID: e.TraceID, Pipeline: pipeline, Status: outcome.Status, Stored: outcome.Stored, Sent: outcome.Sent,
		}
		if time.Since(outcome.Finished) > unwritten && outcome.Stored > 0 {
			j.mu.Lock()
			defer j.mu.Unlock()
			j.enterOutcome(e.Sequence, cmp.Or(e.Origin, new(sluice.Origin)).CorrelationID, o)
		}
		return o, next, nil
	case sluice.AsError(err).Kind != sluice.Gone:
		return o, next, err
	}
	o.Status = sluice.StatusOK
	for _, run := range runs {
		if run.Pipeline == pipeline && run.Status != sluice.StatusProcessing { // otherwise it waited for an answer
			o.Status = run.Status
		}
	}
	return o, next, nil
}

// unwritten is how long the entry of an outcome may be on its way.
const unwritten = 10 * time.Second

// tellEnd tells what became of a call, if a run was the last on which that depends. Of runs that end
// at the same time, on whichever nodes, the one whose outcome was stored last finds all of them done:
// each looks at what was stored up to its own outcome, whenever it looks. A replay tells only that it
// has made the call well.
func (j *Journal) tellEnd(ctx context.Context, end ending) error {
	w := &eventWalk{search: j.newSearch(sluice.TraceQuery{}), asOf: end.stored}
	call, e, lines, err := w.read(ctx, j.sequenceOf(end.origin))
	if call == nil || err != nil || e.Foreign {
		return err
	}
	p, err := w.progress(ctx, e, call.Runs, lines)
	if err != nil {
		return err
	}
	told := []sluice.Status{p.status}
	switch {
	case p.status == sluice.StatusProcessing || p.status == sluice.StatusRetrying:
		return nil
	case end.replay:
		w.asOf--
		if before, err := w.progress(ctx, e, call.Runs, lines); err != nil || before.status == p.status {
			return err
		}
	case p.status == sluice.StatusRecovered: // it was replayed before all was done
		told = []sluice.Status{sluice.StatusError, p.status}
	}
	for _, status := range told {
		j.about.Ended(sluice.CallEnd{EventKey: call.EventKey, TraceID: call.TraceID, Status: status, Sent: call.Sent})
	}
	return nil
}
