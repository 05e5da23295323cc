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

func (o Options) retry(ctx context.Context, p retryParams) (sluice.Retries, error) {
	since, err := sluice.Since(time.Time{}, p.Since)
	if err != nil {
		return sluice.Retries{}, err
	}
	return sluice.Retries{Retried: o.Waiting.Retry(sluice.RetryQuery{
		Pipeline: p.Pipeline, TraceID: p.TraceID, Code: p.Code, Since: since, DryRun: p.DryRun,
		Cover: sluice.CoverFrom(ctx),
	})}, nil
}
