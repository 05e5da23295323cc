package event

import (
	"context"
	"time"

	"sluice"
	"sluice/command"
)

// maxErased bounds the calls of one erasure.
const maxErased = 10_000

type eraseParams struct {
	TraceID  string    `json:"traceId" audit:"yes" names:"listed" doc:"Trace id of the call to erase. Give this, or an event key."`
	EventKey string    `json:"eventKey" alias:"key" audit:"yes" names:"listed" doc:"Erases calls of the webhook with this key, as far as the following fit."`
	Type     string    `json:"type" audit:"yes" doc:"Only calls whose event is of this kind; * at its end stands for the rest."`
	From     time.Time `json:"from" audit:"yes" doc:"Earliest time of these calls."`
	To       time.Time `json:"to" audit:"yes" doc:"Latest time of these calls. Default: now."`
	Search   string    `json:"search" doc:"Only calls whose payload has this text in it, in any case. It is not in the audit log."`
	Force    bool      `json:"force" audit:"yes" doc:"Also calls whose event still runs, or waits."`
	DryRun   bool      `json:"dryRun" audit:"yes" doc:"Erases nothing: items lists the calls that would be."`
}

func (o Options) erase(ctx context.Context, p eraseParams) (done sluice.Erased, err error) {
	calls, err := p.find(ctx, o)
	if err != nil {
		return done, err
	}
	done.Items = []sluice.BulkItem{}
	for _, c := range calls {
		if !p.Force && c.WaitsFor("") {
			return sluice.Erased{}, sluice.CodeEventWaits.Errorf("The event of %s still runs, or "+
				"waits; with force=true it is erased all the same.", c.TraceID)
		}
		if len(done.Items) < maxListed {
			done.Items = append(done.Items, sluice.BulkItem{TraceID: c.TraceID, ID: c.Quarantine})
		}
	}
	if p.DryRun {
		return done, nil
	}
	err = o.Erasures.Erase(ctx, calls)
	for _, c := range calls {
		o.Note(ctx, sluice.AuditEntry{
			Command: sluice.EraseCommand, Target: c.TraceID, Outcome: sluice.AuditAllowed,
		})
	}
	if err != nil {
		return sluice.Erased{},
			sluice.AsError(err).Saying("Not everything is gone yet. What was noted goes on " +
				"by itself; event.erasures shows what is done. " + sluice.AsError(err).Message)
	}
	done.Erased = len(calls)
	return done, nil
}

type erasuresParams struct {
	Limit int    `json:"limit" min:"1" max:"10000" doc:"List at most this many; the Link header leads to the next page."`
	After string `json:"after" doc:"List only those whose trace id comes after this one."`
}

func (o Options) erasures(_ context.Context, p erasuresParams) (any, error) {
	traceID := func(e sluice.Erasure) string { return e.TraceID }
	whole := func(e sluice.Erasure) sluice.Erasure { return e }
	return command.PageOf(o.Erasures.List(), traceID, whole, command.Filter{After: p.After, Limit: p.Limit}), nil
}
