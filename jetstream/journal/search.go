package journal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/stream"
)

const (
	// How long before and after its time a call may be stored: its body takes
	// time to arrive, and the clocks of nodes differ. With an external engine it
	// may have waited in a spool.
	storedBefore, storedAfter, spooledFor = time.Minute, 5 * time.Minute, time.Hour
	// traceLasts is how long after a call a search for its whole trace id looks for
	// what followed.
	traceLasts = 10 * time.Minute
)

// allowance bounds what one search may read; a cursor goes on from there.
type allowance struct {
	blocks int64        // of the index
	chunks int64        // of the journal
	window int64        // sequences of what belongs to no event
	bytes  atomic.Int64 // of events
	until  time.Time    // zero: however long it takes
}

// textTime is how long a search for a text goes on before it says how far it
// has come: the index doesn't help it, and people wait.
const textTime = 500 * time.Millisecond

func newAllowance(q *sluice.TraceQuery, textTime time.Duration) *allowance {
	a := &allowance{blocks: 4096, chunks: 2000, window: 100_000}
	a.bytes.Store(128 << 20)
	if q.Text != "" {
		a.chunks, a.until = 20_000, time.Now().Add(textTime)
		a.bytes.Store(512 << 20)
	}
	return a
}

func (a *allowance) read(size int) { a.bytes.Add(-int64(size) - 1<<10) }

func (a *allowance) spent() bool {
	return a.blocks <= 0 || a.chunks <= 0 || a.bytes.Load() <= 0 || a.late()
}

func (a *allowance) late() bool { return !a.until.IsZero() && time.Now().After(a.until) }

// A search looks for the calls of a query.
type search struct {
	*Journal

	q     sluice.TraceQuery
	want  entry // what an entry must have; 0 matches any
	owner string
	whole bool   // the query has a whole trace id
	text  string // the query's, in lower case
	allow *allowance

	since, until int64         // the query's times, in milliseconds
	late         time.Duration // how much after its time a call may be stored
}

// Calls implements sluice.Journal: it searches calls, newest first.
func (j *Journal) Calls(ctx context.Context, q sluice.TraceQuery) (calls []sluice.Call, next string, err error) {
	if err := j.host.Connected(); err != nil {
		return nil, "", err
	}
	if q.Pipeline != "" && !q.Cover.Name(q.Pipeline) {
		return nil, "", nil
	}
	j.flushSoon(ctx)
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

// anyTime is how late the one call that a query is for may have been stored: after a long
// time in a spool, or before the clock was set back.
const anyTime = time.Duration(math.MaxInt64)

// calls searches calls that were stored at most late after their time.
func (j *Journal) calls(ctx context.Context, q sluice.TraceQuery, late time.Duration) (calls []sluice.Call, next string, err error) {
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

func (j *Journal) newSearch(q sluice.TraceQuery) *search {
	s := &search{Journal: j, q: q, text: strings.ToLower(q.Text), allow: newAllowance(&q, j.textTime)}
	if q.EventKey != "" {
		s.want.key = hash32(q.EventKey)
	}
	if q.Pipeline != "" {
		s.want.pipelines = bitsOf(q.Pipeline)
	}
	if q.TraceID == "" {
		return s
	}
	s.owner = sluice.TraceOwner(q.TraceID)
	s.want.owner = hash32(s.owner)
	if s.whole = s.owner != q.TraceID; !s.whole {
		return s
	}
	s.want.trace = hash32(q.TraceID)
	if at, ok := sluice.TraceTime(q.TraceID); ok {
		if s.q.From.IsZero() {
			s.q.From = at.Add(-time.Second)
		}
		if s.q.To.IsZero() {
			s.q.To = at.Add(traceLasts)
		}
	}
	return s
}

// matches reports whether a call fits the query, as far as the call alone
// tells.
func (s *search) matches(c *sluice.Call) bool {
	switch {
	case !s.q.Cover.Call(c),
		s.whole && c.TraceID != s.q.TraceID,
		s.owner != "" && sluice.TraceOwner(c.TraceID) != s.owner,
		s.q.EventKey != "" && c.EventKey != s.q.EventKey,
		c.Time.Before(s.q.From),
		!s.q.To.IsZero() && c.Time.After(s.q.To):
		return false
	}
	return true
}

// between returns the range of sequences of a stream that may fit the query.
func (s *search) between(ctx context.Context, in jetstream.Stream) (first, behind uint64, err error) {
	info, err := in.Info(ctx)
	if err != nil {
		return 0, 0, stream.NoAnswer(err)
	}
	state := info.State
	first, behind = max(1, state.FirstSeq), state.LastSeq+1
	if !s.q.From.IsZero() && s.late != anyTime {
		if first, err = s.host.SequenceAt(ctx, in, state, s.q.From.Add(-storedBefore)); err != nil {
			return 0, 0, err
		}
	}
	if !s.q.To.IsZero() && s.late != anyTime {
		if behind, err = s.host.SequenceAt(ctx, in, state, s.q.To.Add(s.late)); err != nil {
			return 0, 0, err
		}
	}
	for in == s.events && first > 1 && s.about.Forgotten(first-1) {
		first--
	}
	return max(1, first), behind, nil
}

// parseCursor returns where the walks of a search go on.
func (j *Journal) parseCursor(cursor string) (events, loose uint64, line int, err error) {
	place, ok := j.ids.Place(cursor, 3)
	if !ok {
		return 0, 0, 0, sluice.InvalidParameter("after", "The parameter after must be the value of next in the previous answer.")
	}
	return place[0], place[1], int(place[2]), nil
}

// Reached implements sluice.Journal: it returns the time of the event that a search
// looked at last, or of the loose call if no events are left.
func (j *Journal) Reached(ctx context.Context, cursor string) (time.Time, error) {
	events, loose, _, err := j.parseCursor(cursor)
	if err != nil {
		return time.Time{}, err
	}
	msg, err := storedEvent(ctx, j.events, max(1, events))
	if err != nil {
		return time.Time{}, err
	}
	if msg != nil {
		return msg.Time.UTC(), nil
	}
	found, err := j.host.Fetch(ctx, stream.Loose, stream.Range{Sequence: max(1, loose), Count: 1})
	if err != nil {
		return time.Time{}, err
	}
	if len(found) > 0 {
		return found[0].Time.UTC(), nil
	}
	return time.Now().UTC(), nil
}

// merge takes calls of both walks in the order of their times, and reports
// whether there may be more.
func merge(ctx context.Context, limit int, events *eventWalk, loose *looseWalk) (calls []sluice.Call, more bool, err error) {
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

// found returns a call as a search or a tail shows it: without listeners, and
// with an empty list of runs.
func found(c sluice.Call) sluice.Call {
	c.Listeners, c.Runs = nil, []sluice.RunReport{}
	return c
}

// addRun adds a run to the call that it belongs to.
func addRun(c *sluice.Call, run sluice.RunReport) {
	run.TraceID, run.CorrelationID, run.EventKey, run.User = "", "", "", "" // the call has them
	c.Runs = append(c.Runs, run)
}

// sortRuns puts runs in the order in which they began.
func sortRuns(runs []sluice.RunReport) {
	slices.SortStableFunc(runs, func(a, b sluice.RunReport) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Attempt, b.Attempt))
	})
}

// storedEvent returns an event as it is stored, nil if it is gone.
func storedEvent(ctx context.Context, events jetstream.Stream, sequence uint64) (*jetstream.RawStreamMsg, error) {
	msg, err := events.GetMsg(ctx, sequence)
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return nil, nil
	case err != nil:
		return nil, stream.NoAnswer(err)
	}
	return msg, nil
}

// Event implements sluice.Journal.
func (j *Journal) Event(ctx context.Context, correlationID string) (e sluice.Event, err error) {
	if err := j.host.Connected(); err != nil {
		return e, err
	}
	missing := sluice.Errorf(sluice.CodeEventGone, "The event of this call is no longer kept.")
	reference, ok := j.ids.Parse(correlationID)
	if !ok {
		return e, missing
	}
	msg, err := storedEvent(ctx, j.events, reference.Sequence)
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
		e.TraceID, e.EventKey, e.Key, e.ReceivedAt = envelope.TraceID, envelope.EventKey, envelope.Key, envelope.Received
	}
	return e, nil
}
