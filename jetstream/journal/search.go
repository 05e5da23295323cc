package journal

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
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
