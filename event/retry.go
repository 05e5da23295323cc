package event

import (
	"context"
	"time"

	"sluice"
)

type retryParams struct {
	Pipeline string `json:"pipeline" audit:"yes" names:"listed" doc:"Only events that wait for this pipeline."`
	TraceID  string `json:"traceId" audit:"yes" names:"listed" doc:"Only the event of the call with this trace id."`
	Code     string `json:"code" audit:"yes" doc:"Only events whose last attempt failed with this code."`
	Since    string `json:"since" audit:"yes" doc:"Only events that were first tried since then: how long ago, such as 30m or 1d."`
	DryRun   bool   `json:"dryRun" audit:"yes" doc:"Only says how many there are."`
}

func (o Options) retry(ctx context.Context, p retryParams) (done sluice.Retries, err error) {
	q := sluice.RetryQuery{Pipeline: p.Pipeline, Code: p.Code, DryRun: p.DryRun, Cover: sluice.CoverFrom(ctx)}
	if q.Since, err = sluice.Since(time.Time{}, p.Since); err != nil {
		return done, err
	}
	ids := map[string]bool{p.TraceID: true}
	if p.TraceID != "" { // a call that brought several events is found with them
		items, err := all(ctx, o.Journal, sluice.TraceQuery{TraceID: p.TraceID, Cover: q.Cover},
			func(c sluice.Call) bool { return c.Status == sluice.StatusRetrying })
		if err != nil {
			return done, err
		}
		for _, c := range items {
			ids[c.TraceID] = true
		}
	}
	for q.TraceID = range ids {
		done.Retried += o.Waiting.Retry(q)
	}
	return done, nil
}
