package event

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"sluice"
)

// find returns the calls whose events are sent again, oldest first, and the cursor
// behind them if there are more.
func (p replay) find(ctx context.Context) (found []sluice.Call, next string, err error) {
	from, err := sluice.Since(p.From, p.Since)
	if err != nil {
		return nil, "", err
	}
	named := len(p.TraceID) > 0
	if !named && p.EventKey != "" && from.IsZero() {
		return nil, "", sluice.InvalidParameter("from",
			"Say from when on: since, such as 1h, or from, such as 2030-01-31T12:00:00Z.")
	}
	if named != from.IsZero() || named && p.EventKey+p.Type+p.Status+p.Code != "" {
		return nil, "", sluice.InvalidParameter("traceId",
			"Give either traceId, or a span of time: since, or from and to.")
	}
	if named {
		found, err = p.named(ctx)
		return found, "", err
	}
	if err = sluice.CheckType(p.Type); p.EventKey != "" && err == nil {
		err = checkKey("eventKey", p.EventKey)
	}
	if err == nil {
		found, err = p.oldest(ctx, from)
	}
	if err != nil {
		return nil, "", err
	}
	return p.page(found)
}

// page returns as many of the calls as the limit says, and the cursor behind them.
func (p replay) page(found []sluice.Call) (page []sluice.Call, next string, err error) {
	if p.Limit == 0 {
		if len(found) > maxReplays {
			err = sluice.CodeTooManyEvents.Errorf("These are more than %d events; replay them in parts with "+
				"limit and after, or all of them with sluice replay.", maxReplays)
		}
		return found, "", err
	}
	end := min(p.Limit, len(found))
	for end > 0 && end < len(found) && inOrder(positionOf(found[end-1]), positionOf(found[end])) == 0 {
		end++ // a cursor can't tell them apart
	}
	if end < len(found) {
		next = positionOf(found[end-1]).String()
	}
	return found[:end], next, nil
}

// firstSpan is the first span of time that is searched; each further one is twice as
// long, up to longestSpan: a time may be asked for that is centuries away.
const (
	firstSpan   = 10 * time.Minute
	longestSpan = 876_000 * time.Hour
)

// oldest returns the oldest selected calls in order, more than the limit if there are
// so many. The journal finds the newest calls first, and searching all of them for each
// page would take ever longer. So it searches one span of time after the other.
func (p replay) oldest(ctx context.Context, from time.Time) (found []sluice.Call, err error) {
	after, err := parsePosition(p.After)
	if err != nil {
		return nil, err
	}
	if after.time.After(from) {
		from = after.time
	}
	q := sluice.TraceQuery{
		EventKey: p.EventKey, Type: p.Type, Status: sluice.Status(p.Status), Limit: 1000,
		Cover: sluice.CoverFrom(ctx),
	}
	to := p.To
	if to.IsZero() {
		to = time.Now()
	}
	most := cmp.Or(p.Limit, maxReplays)
	for span := firstSpan; !from.After(to) && len(found) <= most; span = min(2*span, longestSpan) {
		q.From, q.To, q.Before = from, from.Add(span), ""
		if q.To.After(to) {
			q.To = to
		}
		var some []sluice.Call
		for more := true; more; more = q.Before != "" {
			calls, next, err := p.Journal.Calls(ctx, q)
			if err != nil {
				return nil, err
			}
			for _, c := range calls {
				if c.Replays(p.Pipeline, q.Status, p.Code) && (p.Force || !c.WaitsFor(p.Pipeline)) &&
					inOrder(positionOf(c), after) > 0 {
					// there may be very many
					some = append(some, sluice.Call{
						TraceID: c.TraceID, CorrelationID: c.CorrelationID, EventKey: c.EventKey, Key: c.Key,
						Time: c.Time,
					})
				}
			}
			q.Before = next
		}
		slices.SortStableFunc(some, func(a, b sluice.Call) int { return inOrder(positionOf(a), positionOf(b)) })
		found = append(found, some...)
		from = q.To.Add(1)
	}
	return found, nil
}

// named returns the calls with the given trace ids, as far as they exist. All are looked up before
// the first is sent: each look-up waits until the journal has written all it knows, and that would
// include the replays.
func (p replay) named(ctx context.Context) (named []sluice.Call, err error) {
	if len(p.TraceID) > maxNamed {
		return nil, sluice.InvalidParameter("traceId", "The parameter traceId must have at most %d trace ids.",
			maxNamed)
	}
	for _, id := range p.TraceID {
		if !strings.Contains(id, ":") {
			return nil, sluice.InvalidParameter("traceId",
				"The parameter traceId must be the whole trace id of a call.")
		}
		calls, err := all(ctx, p.Journal, sluice.TraceQuery{
			TraceID: strings.ToLower(id), Cover: sluice.CoverFrom(ctx),
		}, nil)
		if err != nil {
			return nil, err
		}
		id = strings.ToLower(id)
		for _, c := range slices.Backward(calls) { // what followed from the call is newer
			if !c.Accepted() || c.TraceID != id && c.Batch == nil {
				continue
			}
			if !p.Force && c.WaitsFor(p.Pipeline) {
				return nil, sluice.CodeEventWaits.Errorf("The event of %s still runs, or waits. If "+
					"that is for its next attempt, event.retry makes it now; with force=true it is sent again all "+
					"the same, and the pipeline gets it twice.", c.TraceID)
			}
			named = append(named, c)
			if c.TraceID == id { // otherwise it is one of several
				break
			}
		}
	}
	return named, nil
}

// A position is how far a replay has come: the call that it sent last.
type position struct {
	time    time.Time
	traceID string
}

// String returns the position as a cursor.
func (p position) String() string { return p.time.UTC().Format(time.RFC3339Nano) + "," + p.traceID }

func positionOf(c sluice.Call) position { return position{c.Time, c.TraceID} }

func inOrder(a, b position) int {
	return cmp.Or(a.time.Compare(b.time), cmp.Compare(a.traceID, b.traceID))
}

func parsePosition(cursor string) (p position, err error) {
	if cursor == "" {
		return p, nil
	}
	at, traceID, _ := strings.Cut(cursor, ",")
	if p.time, err = time.Parse(time.RFC3339Nano, at); err != nil || !sluice.ValidTraceID(traceID) {
		return p, sluice.InvalidParameter("after", "The parameter after must be the value of next in an answer.")
	}
	p.traceID = traceID
	return p, nil
}
