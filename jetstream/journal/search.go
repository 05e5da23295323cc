package journal

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"time"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/stream"
)

// Calls implements sluice.Journal: it searches calls, newest first.
func (j *Journal) Calls(ctx context.Context, q sluice.TraceQuery) (calls []sluice.Call, next string, err error) {
	if err := j.host.Connected(); err != nil {
		return nil, "", err
	}
	if q.Pipeline != "" && !q.Cover.Name(q.Pipeline) {
		return nil, "", nil
	}
	_ = j.flushSoon(ctx) // what could not be written is not found yet
	late := storedAfter
	if !j.host.SoleWriter { // others may spool
		late = spooledFor
	}
	calls, next, err = j.calls(ctx, q, late)
	if len(calls) == 0 && next == "" && err == nil && sluice.TraceOwner(q.TraceID) != q.TraceID {
		return j.calls(ctx, q, anyTime)
	}
	return calls, next, err
}

// calls searches calls that were stored at most late after their time.
func (j *Journal) calls(
	ctx context.Context, q sluice.TraceQuery, late time.Duration,
) (calls []sluice.Call, next string, err error) {
	s := j.newSearch(q)
	s.late, s.since, s.until = late, math.MinInt64, math.MaxInt64
	if !s.q.From.IsZero() {
		s.since = s.q.From.UnixMilli()
	}
	if !s.q.To.IsZero() {
		s.until = s.q.To.UnixMilli()
	}
	events, err := s.eventWalk(ctx)
	if err != nil {
		return nil, "", err
	}
	loose, err := s.looseWalk(ctx)
	if err != nil {
		return nil, "", err
	}
	if q.Before != "" {
		before, looseBefore, line, err := j.parseCursor(q.Before)
		if err != nil {
			return nil, "", err
		}
		events.before = min(events.before, before)
		loose.resume(looseBefore, line)
	}
	calls, more, err := merge(ctx, q.Limit, events, loose)
	if err != nil {
		return nil, "", err
	}
	if more {
		next = j.ids.Cursor(events.before, loose.before, uint64(loose.line))
	}
	for i := range calls {
		calls[i].Erased = j.about.Erased(calls[i].TraceID)
	}
	slices.SortStableFunc(calls, func(a, b sluice.Call) int { return b.Time.Compare(a.Time) })
	return calls, next, nil
}

// merge takes calls of both walks in the order of their times, and reports
// whether there may be more.
func merge(
	ctx context.Context, limit int, events *eventWalk, loose *looseWalk,
) (calls []sluice.Call, more bool, err error) {
	for len(calls) < limit {
		event, err := events.peek(ctx)
		if err != nil {
			return nil, false, err
		}
		if event == nil && !events.done() {
			return calls, true, nil
		}
		var since time.Time // older calls come after the event
		if event != nil {
			since = event.Time
		}
		other, err := loose.peek(ctx, since)
		if err != nil {
			return nil, false, err
		}
		switch {
		case other == nil && !loose.passed(since):
			return calls, true, nil
		case event == nil && other == nil:
			return calls, false, nil
		case other == nil || event != nil && event.Time.After(other.Time):
			calls = append(calls, *event)
			events.pass()
		default:
			calls = append(calls, *other)
			loose.pass()
		}
	}
	return calls, !events.done() || !loose.done(), nil
}

// parseCursor returns where the walks of a search go on.
func (j *Journal) parseCursor(cursor string) (events, loose uint64, line int, err error) {
	place, ok := j.ids.Place(cursor, 3)
	if !ok {
		return 0, 0, 0, sluice.InvalidParameter("after",
			"The parameter after must be the value of next in the previous answer.")
	}
	return place[0], place[1], int(place[2]), nil
}

// Event implements sluice.Journal.
func (j *Journal) Event(ctx context.Context, correlationID string) (e sluice.Event, err error) {
	if err := j.host.Connected(); err != nil {
		return e, err
	}
	missing := sluice.CodeEventGone.Errorf("The event of this call is no longer kept.")
	reference, ok := j.ids.Parse(correlationID)
	if !ok {
		return e, missing
	}
	msg, err := stream.Found(j.events.GetMsg(ctx, reference.Sequence))
	if err != nil {
		return e, err
	}
	if msg == nil {
		return e, missing
	}
	envelope, err := correlation.ReadEnvelope(msg)
	if err != nil || !j.ids.Fits(reference, envelope.TraceID) {
		return sluice.Event{}, missing
	}
	if err := json.Unmarshal(msg.Data, &e); err != nil && !envelope.Foreign {
		return e, err
	}
	if envelope.Foreign {
		e.TraceID, e.ReceivedAt = envelope.TraceID, envelope.Received
		e.EventKey, e.Key = envelope.EventKey, envelope.Key
	}
	return e, nil
}

// Sent implements sluice.Journal. An event that a run sends has the run's trace id.
func (j *Journal) Sent(ctx context.Context, traceID string, sequence uint64) (sluice.Event, string, error) {
	id := j.ids.ID(sequence, traceID)
	e, err := j.Event(ctx, id)
	return e, id, err
}

// Reached implements sluice.Journal: it returns the time of the event that a search
// looked at last, or of the loose call if no events are left.
func (j *Journal) Reached(ctx context.Context, cursor string) (at time.Time, err error) {
	events, loose, _, err := j.parseCursor(cursor)
	if err != nil {
		return at, err
	}
	msg, err := stream.Found(j.events.GetMsg(ctx, max(1, events)))
	if err != nil {
		return at, err
	}
	if msg != nil {
		return msg.Time.UTC(), nil
	}
	found, err := j.host.Fetch(ctx, stream.Loose, stream.Range{Sequence: max(1, loose), Count: 1})
	if err != nil {
		return at, err
	}
	if len(found) > 0 {
		return found[0].Time.UTC(), nil
	}
	return time.Now().UTC(), nil
}
