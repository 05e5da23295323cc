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

// anyTime is how late the one call that a query is for may have been stored: after a long
// time in a spool, or before the clock was set back.
const anyTime = time.Duration(math.MaxInt64)

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
	s.want.trace = hash32(sluice.CallTraceID(q.TraceID))
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
		s.whole && c.TraceID != s.q.TraceID && sluice.CallTraceID(c.TraceID) != s.q.TraceID,
		s.owner != "" && sluice.TraceOwner(c.TraceID) != s.owner,
		s.q.Calls && c.Sent,
		s.q.EventKey != "" && c.EventKey != s.q.EventKey,
		s.q.Type != "" && !sluice.TypeMatches(s.q.Type, c.Type),
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

// hasCode reports whether a call was rejected, or one of its runs failed, with the
// code of the query.
func (s *search) hasCode(c *sluice.Call) bool {
	if s.q.Code == "" || c.Code == s.q.Code {
		return true
	}
	return slices.ContainsFunc(c.Runs,
		func(run sluice.RunReport) bool { return run.Error != nil && run.Error.Code == s.q.Code })
}

// mentions reports whether what is known of a call has the text of the query.
func (s *search) mentions(c *sluice.Call) bool {
	if s.q.OnlyPayload && s.text != "" {
		return false
	}
	has := func(text string) bool { return strings.Contains(strings.ToLower(text), s.text) }
	known := s.q.Known.Call(c)
	if slices.ContainsFunc([]string{
		c.EventKey, c.Key, c.Type, c.TraceID, c.ReplayOf, c.RemoteAddr, c.Code,
	}, has) || known && (has(c.CorrelationID) || has(c.DeliveryID)) {
		return true
	}
	return slices.ContainsFunc(c.Runs, func(run sluice.RunReport) bool {
		return has(run.Pipeline) ||
			run.Error != nil && (has(run.Error.Code) || (known || !run.Error.OfAuthor()) && has(run.Error.Detail))
	})
}
