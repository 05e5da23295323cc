package journal

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"sluice"
	"sluice/jetstream/correlation"
)

// settled returns how an event ended in each pipeline that is done with it.
func settled(lines []line, correlationID, traceID string) map[string]sluice.Status {
	settled := make(map[string]sluice.Status)
	for _, l := range lines {
		var outcome runOutcome
		if l.kind == lineOutcome && json.Unmarshal(l.data, &outcome) == nil && outcome.TraceID == traceID {
			settled[outcome.Pipeline] = outcome.Status
		}
	}
	for _, l := range lines {
		var r recovery
		if l.kind == lineRecovery && json.Unmarshal(l.data, &r) == nil && r.CorrelationID == correlationID &&
			settled[r.Pipeline] == sluice.StatusError {
			settled[r.Pipeline] = sluice.StatusRecovered
		}
	}
	return settled
}

// urgency orders statuses: that of a call is the most urgent of its pipelines'.
var urgency = []sluice.Status{
	sluice.StatusOK, sluice.StatusRecovered, sluice.StatusError, sluice.StatusProcessing, sluice.StatusRetrying,
}

// status returns how far an event has come, and when it is tried again.
func (w *eventWalk) status(
	ctx context.Context, e correlation.Envelope, runs []sluice.RunReport, settled map[string]sluice.Status,
) (status sluice.Status, next time.Time, err error) {
	most := 0
	for _, name := range e.Listeners {
		is, known := settled[name]
		if !known {
			var due time.Time
			if is, due, err = w.unsettled(ctx, e, name, runs); err != nil {
				return "", next, err
			}
			if next.IsZero() || !due.IsZero() && due.Before(next) {
				next = due
			}
		}
		most = max(most, slices.Index(urgency, is))
	}
	return urgency[most], next, nil
}

// unsettled returns how far a pipeline has come without an outcome in the
// journal: it still runs, or the outcome was lost in a crash.
func (w *eventWalk) unsettled(
	ctx context.Context, e correlation.Envelope, pipeline string, runs []sluice.RunReport,
) (status sluice.Status, next time.Time, err error) {
	outcome, err := w.about.Outcome(ctx, e, pipeline)
	switch {
	case err == nil && outcome == nil:
		retries, next, err := w.about.Retries(ctx, e, pipeline)
		if retries {
			return sluice.StatusRetrying, next, err
		}
		return sluice.StatusProcessing, next, err
	case err == nil:
		return outcome.Status, next, nil
	case sluice.AsError(err).Kind != sluice.Gone:
		return "", next, err
	}
	status = sluice.StatusOK
	for _, run := range runs {
		if run.Pipeline == pipeline {
			status = run.Status
		}
	}
	return status, next, nil
}
