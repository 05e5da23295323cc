package event

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"sluice"
	"sluice/command"
)

const (
	defaultRate = 50
	maxReplays  = 10_000 // events of one replay without a limit
	maxListed   = 1000   // events that its answer lists
	maxNamed    = 1000   // trace ids in a request
)

type replayParams struct {
	TraceID  []string  `json:"traceId" audit:"yes" names:"listed" doc:"Trace id of the call whose event is sent again, or up to 1000 of them, sent in this order. Give this, or some of what follows."`
	EventKey string    `json:"eventKey" alias:"key" audit:"yes" names:"listed" doc:"Key of the events that are sent again, except replays. Default: any."`
	Status   string    `json:"status" enum:"ok,error,recovered,processing,retrying" audit:"yes" doc:"Only events of calls with this status. With error and a pipeline: only those that it failed on."`
	Code     string    `json:"code" audit:"yes" doc:"Only events that a pipeline failed on with this error code."`
	From     time.Time `json:"from" audit:"yes" doc:"Earliest time of these events."`
	To       time.Time `json:"to" audit:"yes" doc:"Latest time of these events. Default: now."`
	Since    string    `json:"since" audit:"yes" doc:"In place of from: how long ago, such as 30m or 1d."`
	Pipeline string    `json:"pipeline" audit:"yes" names:"pipeline" doc:"Only this pipeline gets them, as far as it listens to them now; default: all that do."`
	Rate     int       `json:"rate" min:"1" max:"1000" doc:"Events a second. Default 50. Live events go before them in any case."`
	Limit    int       `json:"limit" min:"1" max:"1000" doc:"At most this many, the oldest first; next in the answer goes on behind them. Default: all, which may be 10000 at most."`
	After    string    `json:"after" doc:"The value of next in the previous answer. Give to as well, so that each request means the same events."`
	Force    bool      `json:"force" audit:"yes" doc:"Also events that wait for another attempt: their pipeline gets them twice."`
	DryRun   bool      `json:"dryRun" audit:"yes" doc:"Sends nothing again: selected in the answer says how many events would be, and items lists their calls, up to 1000."`
}

func replayCommand(events sluice.Events, journal sluice.Journal) command.Command {
	return command.New("event.replay", "Send stored events again, oldest first, under new trace ids.",
		func(ctx context.Context, p replayParams) (sluice.Replays, error) {
			old, next, err := p.find(ctx, journal)
			if err != nil {
				return sluice.Replays{}, err
			}
			done := sluice.Replays{Bulk: sluice.Bulk{Items: []sluice.BulkItem{}, Next: next}}
			if p.DryRun {
				done.Selected = len(old)
				for _, c := range old[:min(len(old), maxListed)] {
					done.Items = append(done.Items, sluice.BulkItem{TraceID: c.TraceID})
				}
				return done, nil
			}
			err = p.replayAll(ctx, events, journal, old, &done)
			if err == nil && done.Replayed == 0 && p.Limit == 0 {
				err = sluice.Errorf(sluice.CodeEventUnknown, "No stored event matches; trace.get finds those there are.")
			}
			return done, err
		}, command.Missing(func(_ context.Context, _, name string) error { return sluice.NoListener(name) }))
}

// find returns the calls whose events are sent again, oldest first, and the cursor
// behind them if there are more.
func (p replayParams) find(ctx context.Context, journal sluice.Journal) (found []sluice.Call, next string, err error) {
	from, err := sluice.Since(p.From, p.Since)
	if err != nil {
		return nil, "", err
	}
	named := len(p.TraceID) > 0
	if !named && p.EventKey != "" && from.IsZero() {
		return nil, "", sluice.InvalidParameter("from", "Say from when on: since, such as 1h, or from, such as 2030-01-31T12:00:00Z.")
	}
	if named != from.IsZero() || named && p.EventKey+p.Status+p.Code != "" {
		return nil, "", sluice.InvalidParameter("traceId", "Give either traceId, or a span of time: since, or from and to.")
	}
	if named {
		found, err = p.named(ctx, journal)
		return found, "", err
	}
	if p.EventKey != "" {
		if err := checkKey("eventKey", p.EventKey); err != nil {
			return nil, "", err
		}
	}
	found, err = p.oldest(ctx, journal, from)
	if err != nil {
		return nil, "", err
	}
	return p.page(found)
}

// page returns as many of the calls as the limit says, and the cursor behind them.
func (p replayParams) page(found []sluice.Call) (page []sluice.Call, next string, err error) {
	if p.Limit == 0 {
		if len(found) > maxReplays {
			err = sluice.Errorf(sluice.CodeTooManyEvents, "These are more than %d events; replay them in parts with limit and after, or all of them with sluice replay.", maxReplays)
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
// long.
const firstSpan = 10 * time.Minute

// oldest returns the oldest selected calls in order, more than the limit if there are
// so many. The journal finds the newest calls first, and searching all of them for each
// page would take ever longer. So it searches one span of time after the other.
func (p replayParams) oldest(ctx context.Context, journal sluice.Journal, from time.Time) (found []sluice.Call, err error) {
	after, err := parsePosition(p.After)
	if err != nil {
		return nil, err
	}
	if after.time.After(from) {
		from = after.time
	}
	q := sluice.TraceQuery{EventKey: p.EventKey, Status: sluice.Status(p.Status), Limit: 1000, Cover: sluice.CoverFrom(ctx)}
	to := p.To
	if to.IsZero() {
		to = time.Now()
	}
	for span := firstSpan; !from.After(to) && len(found) <= cmp.Or(p.Limit, maxReplays); span *= 2 {
		q.From, q.To, q.Before = from, from.Add(span), ""
		if q.To.After(to) {
			q.To = to
		}
		var some []sluice.Call
		for more := true; more; more = q.Before != "" {
			calls, next, err := journal.Calls(ctx, q)
			if err != nil {
				return nil, err
			}
			for _, c := range calls {
				if c.Replays(p.Pipeline, q.Status, p.Code) && (p.Force || !c.WaitsFor(p.Pipeline)) && inOrder(positionOf(c), after) > 0 {
					some = append(some, sluice.Call{TraceID: c.TraceID, CorrelationID: c.CorrelationID, EventKey: c.EventKey, Key: c.Key, Time: c.Time}) // there may be very many
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

// A position is how far a replay has come: the call that it sent last.
type position struct {
	time    time.Time
	traceID string
}

func positionOf(c sluice.Call) position { return position{c.Time, c.TraceID} }

func inOrder(a, b position) int {
	return cmp.Or(a.time.Compare(b.time), cmp.Compare(a.traceID, b.traceID))
}

// String returns the position as a cursor.
func (p position) String() string { return p.time.UTC().Format(time.RFC3339Nano) + "," + p.traceID }

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

// named returns the calls with the given trace ids, as far as they exist. All are looked up before
// the first is sent: each look-up waits until the journal has written all it knows, and that would
// include the replays.
func (p replayParams) named(ctx context.Context, journal sluice.Journal) (named []sluice.Call, err error) {
	if len(p.TraceID) > maxNamed {
		return nil, sluice.InvalidParameter("traceId", "The parameter traceId must have at most %d trace ids.", maxNamed)
	}
	for _, id := range p.TraceID {
		if !strings.Contains(id, ":") {
			return nil, sluice.InvalidParameter("traceId", "The parameter traceId must be the whole trace id of a call.")
		}
		calls, _, err := journal.Calls(ctx, sluice.TraceQuery{TraceID: strings.ToLower(id), Limit: 1000, Cover: sluice.CoverFrom(ctx)})
		if err != nil {
			return nil, err
		}
		for _, c := range slices.Backward(calls) { // what followed from the call is newer
			if !c.Accepted() {
				continue
			}
			if !p.Force && c.WaitsFor(p.Pipeline) {
				return nil, sluice.Errorf(sluice.CodeEventWaits, "The event of %s waits for its next attempt. event.retry makes that now; with force=true it is sent again all the same, and the pipeline gets it twice.", c.TraceID)
			}
			named = append(named, c)
			break
		}
	}
	return named, nil
}

// replayAll sends events again, at the given rate.
func (p replayParams) replayAll(ctx context.Context, events sluice.Events, journal sluice.Journal, old []sluice.Call, done *sluice.Replays) error {
	last := "" // trace id of the event that was sent again last
	var unheard error
	pace := rate.NewLimiter(rate.Limit(cmp.Or(p.Rate, defaultRate)), 1)
	for _, c := range old {
		err := pace.Wait(ctx)
		var item sluice.BulkItem
		if err == nil {
			item, err = p.send(ctx, events, journal, c)
		}
		switch {
		case err == nil:
		case sluice.AsError(err).Kind == sluice.Gone:
			done.Skipped++ // trimmed meanwhile
			continue
		case sluice.CodePipelineNotListening.Is(err):
			done.Skipped++
			unheard = err
			if e := sluice.AsError(err); p.Limit > 0 {
				done.Items = append(done.Items, sluice.BulkItem{TraceID: c.TraceID, Code: e.Code, Message: e.Message})
			}
			continue
		case done.Replayed == 0:
			return err
		default:
			return sluice.Errorf(sluice.CodeReplayIncomplete, "Only %d of %d events were sent again, up to that of %s; go on after that one.", done.Replayed, len(old), last).Because(err)
		}
		done.Replayed++
		last = c.TraceID
		if !sluice.UserFrom(ctx).Cover(sluice.MaySeePayload).Call(&c) {
			item.CorrelationID = ""
		}
		if len(done.Items) < maxListed {
			done.Items = append(done.Items, item)
		}
	}
	if done.Replayed == 0 && p.Limit == 0 {
		return unheard
	}
	return nil
}

// send sends the event of a call again.
func (p replayParams) send(ctx context.Context, events sluice.Events, journal sluice.Journal, c sluice.Call) (sluice.BulkItem, error) {
	item := sluice.BulkItem{TraceID: c.TraceID}
	e, err := journal.Event(ctx, c.CorrelationID)
	if err != nil {
		return item, err
	}
	repeated, err := e.Replay(ctx, c.CorrelationID, p.Pipeline)
	if err != nil {
		return item, err
	}
	result, err := events.Accept(ctx, repeated, 0)
	if err != nil {
		return item, err
	}
	item.NewTraceID, item.CorrelationID = repeated.TraceID, result.CorrelationID
	return item, nil
}

type retryParams struct {
	Pipeline string `json:"pipeline" audit:"yes" names:"listed" doc:"Only events that wait for this pipeline."`
	TraceID  string `json:"traceId" audit:"yes" names:"listed" doc:"Only the event of the call with this trace id."`
	Code     string `json:"code" audit:"yes" doc:"Only events whose last attempt failed with this code."`
	Since    string `json:"since" audit:"yes" doc:"Only events that were first tried since then: how long ago, such as 30m or 1d."`
	DryRun   bool   `json:"dryRun" audit:"yes" doc:"Only says how many there are."`
}

func retryCommand(waiting sluice.WaitingEvents) command.Command {
	return command.New("event.retry", "Try events now that wait for another attempt. It counts as an attempt like any other.",
		func(ctx context.Context, p retryParams) (sluice.Retries, error) {
			since, err := sluice.Since(time.Time{}, p.Since)
			if err != nil {
				return sluice.Retries{}, err
			}
			return sluice.Retries{Retried: waiting.Retry(sluice.RetryQuery{
				Pipeline: p.Pipeline, TraceID: p.TraceID, Code: p.Code, Since: since, DryRun: p.DryRun, Cover: sluice.CoverFrom(ctx),
			})}, nil
		})
}
