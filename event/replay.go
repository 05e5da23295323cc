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
	// maxReplays bounds the events of one replay, and maxListed those that
	// its answer lists. At most maxNamed are named by their trace ids.
	maxReplays, maxListed, maxNamed = 10_000, 1000, 1000
)

type replayParams struct {
	TraceID  []string  `json:"traceId" audit:"yes" doc:"Trace id of the call whose event is sent again, or up to 1000 of them, sent in this order. Give this, or some of what follows."`
	EventKey string    `json:"eventKey" alias:"key" audit:"yes" doc:"Key of the events that are sent again, except replays. Default: any."`
	Status   string    `json:"status" enum:"ok,error,processing" audit:"yes" doc:"Only events of calls with this status. With error and a pipeline: only those that it failed on."`
	Code     string    `json:"code" audit:"yes" doc:"Only events that a pipeline failed on with this error code."`
	From     time.Time `json:"from" audit:"yes" doc:"Earliest time of these events."`
	To       time.Time `json:"to" audit:"yes" doc:"Latest time of these events. Default: now."`
	Since    string    `json:"since" audit:"yes" doc:"In place of from: how long ago, such as 30m or 1d."`
	Pipeline string    `json:"pipeline" audit:"yes" doc:"Only this pipeline gets them, as far as it listens to them now; default: all that do."`
	Rate     int       `json:"rate" min:"1" max:"1000" doc:"Events a second. Default 50. Live events go before them in any case."`
}

type replays struct {
	Replayed int      `json:"replayed"`
	Items    []replay `json:"items"` // the first 1000
}

// A replay is an event that was sent again.
type replay struct {
	TraceID       string `json:"traceId"` // of the event that it repeats
	NewTraceID    string `json:"newTraceId"`
	CorrelationID string `json:"correlationId,omitempty"` // for who may see payloads
}

func replayCommand(events sluice.Events, journal sluice.Journal) command.Command {
	return command.New("event.replay", "Send stored events again, oldest first, under new trace ids.",
		func(ctx context.Context, p replayParams) (replays, error) {
			old, err := p.find(ctx, journal)
			if err != nil {
				return replays{}, err
			}
			done, err := replayAll(ctx, events, journal, p, old)
			if err == nil && done.Replayed == 0 {
				err = sluice.Errorf(sluice.CodeEventUnknown, "No stored event matches; trace.get finds those there are.")
			}
			return done, err
		})
}

// find returns the calls whose events are to be sent again, oldest first.
func (p replayParams) find(ctx context.Context, journal sluice.Journal) ([]replay, error) {
	from, err := sluice.Since(p.From, p.Since)
	if err != nil {
		return nil, err
	}
	named := len(p.TraceID) > 0
	if !named && p.EventKey != "" && from.IsZero() {
		return nil, sluice.InvalidParameter("from", "Say from when on: since, such as 1h, or from, such as 2030-01-31T12:00:00Z.")
	}
	if named != from.IsZero() || named && p.EventKey+p.Status+p.Code != "" {
		return nil, sluice.InvalidParameter("traceId", "Give either traceId, or a span of time: since, or from and to.")
	}
	if named {
		return p.named(ctx, journal)
	}
	if p.EventKey != "" {
		if err := checkKey("eventKey", p.EventKey); err != nil {
			return nil, err
		}
	}
	q := sluice.TraceQuery{EventKey: p.EventKey, Status: sluice.Status(p.Status), From: from, To: p.To, Limit: 1000}
	if p.To.IsZero() {
		q.To = time.Now()
	}
	var found []replay
	for {
		calls, next, err := journal.Calls(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, c := range calls {
			if c.CorrelationID != "" && c.Replays(p.Pipeline, q.Status, p.Code) {
				found = append(found, replay{TraceID: c.TraceID, CorrelationID: c.CorrelationID})
			}
		}
		if len(found) > maxReplays {
			return nil, sluice.Errorf(sluice.CodeTooManyEvents, "These are more than %d events; replay shorter spans of time, one after the other, or all of them with sluice replay.", maxReplays)
		}
		if next == "" {
			slices.Reverse(found)
			return found, nil
		}
		q.Before = next
	}
}

// named returns the calls that are named by their trace ids, without those that are
// not there. All are looked up before the first is sent: a look-up waits until the
// journal has written what it was told of meanwhile.
func (p replayParams) named(ctx context.Context, journal sluice.Journal) ([]replay, error) {
	if len(p.TraceID) > maxNamed {
		return nil, sluice.InvalidParameter("traceId", "The parameter traceId must have at most %d trace ids.", maxNamed)
	}
	var named []replay
	for _, id := range p.TraceID {
		if !strings.Contains(id, ":") {
			return nil, sluice.InvalidParameter("traceId", "The parameter traceId must be the whole trace id of a call.")
		}
		calls, _, err := journal.Calls(ctx, sluice.TraceQuery{TraceID: strings.ToLower(id), Limit: 1000})
		if err != nil {
			return nil, err
		}
		for _, c := range slices.Backward(calls) { // what followed from the call is newer
			if c.CorrelationID != "" {
				named = append(named, replay{TraceID: c.TraceID, CorrelationID: c.CorrelationID})
				break
			}
		}
	}
	return named, nil
}

// replayAll sends events again, at the given rate.
func replayAll(ctx context.Context, events sluice.Events, journal sluice.Journal, p replayParams, old []replay) (replays, error) {
	done := replays{Items: []replay{}}
	last := "" // trace id of the event that was sent again last
	var unheard error
	pace := rate.NewLimiter(rate.Limit(cmp.Or(p.Rate, defaultRate)), 1)
	for _, o := range old {
		err := pace.Wait(ctx)
		if err == nil {
			err = o.send(ctx, events, journal, p.Pipeline)
		}
		switch {
		case err == nil:
		case sluice.AsError(err).Kind == sluice.Gone:
			continue // trimmed meanwhile
		case sluice.CodePipelineNotListening.Is(err):
			unheard = err
			continue
		case done.Replayed == 0:
			return done, err
		default:
			e := sluice.Errorf(sluice.CodeReplayIncomplete, "Only %d of %d events were sent again, up to that of %s; go on after that one.", done.Replayed, len(old), last)
			return done, e.Because(err)
		}
		done.Replayed++
		last = o.TraceID
		if !sluice.UserFrom(ctx).May(sluice.MaySeePayload) {
			o.CorrelationID = ""
		}
		if len(done.Items) < maxListed {
			done.Items = append(done.Items, o)
		}
	}
	if done.Replayed == 0 {
		return done, unheard
	}
	return done, nil
}

// send sends one event again.
func (r *replay) send(ctx context.Context, events sluice.Events, journal sluice.Journal, pipeline string) error {
	e, err := journal.Event(ctx, r.CorrelationID)
	if err != nil {
		return err
	}
	repeated, err := e.Replay(ctx, pipeline)
	if err != nil {
		return err
	}
	result, err := events.Accept(ctx, repeated, 0)
	if err != nil {
		return err
	}
	r.NewTraceID, r.CorrelationID = repeated.TraceID, result.CorrelationID
	return nil
}
