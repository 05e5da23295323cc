package journal

import (
	"cmp"
	"context"
	"slices"
	"time"

	"sluice"
)

// merge takes calls of both walks in the order of their times, and reports
// whether there may be more.
func merge(
	ctx context.Context, limit int, events *eventWalk, loose *looseWalk,
) (calls []sluice.Call, more bool, err error) {
	for len(calls) < limit {
		event, err := events.peek(ctx)
		if err != nil {
			return nil, false, err
		}
		if event == nil && !events.done() {
			return calls, true, nil
		}
		var since time.Time // older calls come after the event
		if event != nil {
			since = event.Time
		}
		other, err := loose.peek(ctx, since)
		if err != nil {
			return nil, false, err
		}
		switch {
		case other == nil && !loose.passed(since):
			return calls, true, nil
		case event == nil && other == nil:
			return calls, false, nil
		case other == nil || event != nil && event.Time.After(other.Time):
			calls = append(calls, *event)
			events.pass()
		default:
			calls = append(calls, *other)
			loose.pass()
		}
	}
	return calls, !events.done() || !loose.done(), nil
}

// found returns a call as a search or a tail shows it: without listeners, and
// with an empty list of runs.
func found(c sluice.Call) sluice.Call {
	c.Listeners, c.Runs = nil, []sluice.RunReport{}
	return c
}

// addRun adds a run to the call that it belongs to.
func addRun(c *sluice.Call, run sluice.RunReport) {
	run.TraceID, run.CorrelationID, run.EventKey, run.User = "", "", "", "" // the call has them
	c.Runs = append(c.Runs, run)
}

// sortRuns puts runs in the order in which they began.
func sortRuns(runs []sluice.RunReport) {
	slices.SortStableFunc(runs, func(a, b sluice.RunReport) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Attempt, b.Attempt))
	})
}
