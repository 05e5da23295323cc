package event

import (
	"cmp"
	"context"
	"slices"
	"time"

	"golang.org/x/time/rate"

	"sluice"
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
	Type     string    `json:"type" audit:"yes" doc:"Only events of this kind, such as push; * at its end stands for the rest."`
	Status   string    `json:"status" enum:"ok,error,recovered,processing,retrying" audit:"yes" doc:"Only events of calls with this status. With error and a pipeline: only those that it failed on."`
	Code     string    `json:"code" audit:"yes" doc:"Only events that a pipeline failed on with this error code."`
	From     time.Time `json:"from" audit:"yes" doc:"Earliest time of these events."`
	To       time.Time `json:"to" audit:"yes" doc:"Latest time of these events. Default: now."`
	Since    string    `json:"since" audit:"yes" doc:"In place of from: how long ago, such as 30m or 1d."`
	Pipeline string    `json:"pipeline" audit:"yes" names:"pipeline" doc:"Only this pipeline gets them, as far as it listens to them now; default: all that do."`
	Rate     int       `json:"rate" min:"1" max:"1000" doc:"Events a second. Default 50. Live events go before them in any case."`
	Limit    int       `json:"limit" min:"1" max:"1000" doc:"At most this many, the oldest first; next in the answer goes on behind them. Default: all, which may be 10000 at most."`
	After    string    `json:"after" doc:"The value of next in the previous answer. Give to as well, so that each request means the same events."`
	Force    bool      `json:"force" audit:"yes" doc:"Also events that still run, or wait: their pipeline gets them twice."`
	DryRun   bool      `json:"dryRun" audit:"yes" doc:"Sends nothing again: selected in the answer says how many events would be, and items lists their calls, up to 1000."`
}

// A replay is what one call of event.replay asks for, and what it needs.
type replay struct {
	replayParams
	Options
}

func (o Options) replay(ctx context.Context, params replayParams) (done sluice.Replays, err error) {
	p := replay{params, o}
	old, next, err := p.find(ctx)
	if err != nil {
		return done, err
	}
	done.Items, done.Next = []sluice.BulkItem{}, next
	if p.DryRun {
		done.Selected = len(old)
		for _, c := range old[:min(len(old), maxListed)] {
			done.Items = append(done.Items, sluice.BulkItem{TraceID: c.TraceID})
		}
		return done, nil
	}
	if len(p.TraceID) > 0 && slices.ContainsFunc(old, func(c sluice.Call) bool { return c.Erased }) {
		return sluice.Replays{}, sluice.CodeEventGone.Errorf(
			"This call was erased, so there is nothing to send again.")
	}
	err = p.sendAll(ctx, old, &done)
	if err == nil && done.Replayed == 0 && p.Limit == 0 {
		err = sluice.CodeEventUnknown.Errorf(
			"No stored event matches; trace.get finds those there are.")
	}
	return done, err
}

// sendAll sends events again, at the given rate.
func (p replay) sendAll(ctx context.Context, old []sluice.Call, done *sluice.Replays) error {
	last := "" // trace id of the event that was sent again last
	var unheard error
	pace := rate.NewLimiter(rate.Limit(cmp.Or(p.Rate, defaultRate)), 1)
	for _, c := range old {
		err := pace.Wait(ctx)
		var item sluice.BulkItem
		if err == nil {
			item, err = p.send(ctx, c)
		}
		switch {
		case err == nil:
		case sluice.Gone.Is(err):
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
			return sluice.CodeReplayIncomplete.Errorf(
				"Only %d of %d events were sent again, up to that of %s; go on after that one.", done.Replayed,
				len(old), last).Because(err)
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
func (p replay) send(ctx context.Context, c sluice.Call) (item sluice.BulkItem, err error) {
	item.TraceID = c.TraceID
	e, err := p.Journal.Event(ctx, c.CorrelationID)
	if err != nil {
		return item, err
	}
	repeated, err := e.Replay(ctx, c.CorrelationID, p.Pipeline)
	if err != nil {
		return item, err
	}
	result, err := p.Events.Accept(ctx, repeated, 0)
	if err != nil {
		return item, err
	}
	item.NewTraceID, item.CorrelationID = repeated.TraceID, result.CorrelationID
	return item, nil
}
