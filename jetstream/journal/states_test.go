package journal_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sluice"
	"sluice/jetstream"
	"sluice/jetstream/natstest"
	"sluice/problem"
)

// TestEveryCallHasOneState: it is not run yet, is tried again, has failed, and has
// recovered by a replay. A search for each state finds it in that one only.
func TestEveryCallHasOneState(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *jetstream.Engine, _ bool) {
		e := open()
		key, owner := natstest.UniqueKey("states"), owner()
		p := bind(t, e, strings.Split(key, ".")[1], sluice.EventPrefix+key)
		call := called(t, e, owner, key, time.Now())
		is := func(want sluice.Status) bool {
			found := map[sluice.Status]int{}
			for _, status := range []sluice.Status{sluice.StatusProcessing, sluice.StatusRetrying, sluice.StatusOK, sluice.StatusError, sluice.StatusRecovered} {
				for _, c := range find(t, e, sluice.TraceQuery{TraceID: owner, Status: status}) {
					if c.ReplayOf == "" {
						found[status]++
					}
				}
			}
			return len(found) == 1 && found[want] == 1
		}
		if !is(sluice.StatusProcessing) {
			t.Error("before it runs, it is not processing")
		}
		var next atomic.Pointer[sluice.Outcome]
		shown := problem.Of(sluice.CodeHTTPFailed.Errorf("The target is away."))
		soon := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
		next.Store(&sluice.Outcome{Pipeline: p.Name, Status: sluice.StatusProcessing, Error: shown, Attempts: 1, Next: soon})
		consume(t, e, p, func(sluice.Delivery) (sluice.Outcome, error) { return *next.Load(), nil })
		natstest.Eventually(t, "another attempt to be awaited", func() bool { return is(sluice.StatusRetrying) })
		if got := find(t, e, sluice.TraceQuery{TraceID: call.TraceID})[0].Next; !got.Equal(soon) {
			t.Errorf("it is tried again at %s, want %s", got, soon)
		}

		for i, query := range []sluice.RetryQuery{
			{Pipeline: p.Name, TraceID: call.TraceID, Code: "http-failed", Since: call.Time.Add(-time.Minute), DryRun: true},
			{Pipeline: "another", DryRun: true}, {Code: "another", DryRun: true}, {TraceID: "abcdef:0", DryRun: true},
			{Since: time.Now().Add(time.Minute), DryRun: true},
			{Cover: sluice.User{}.Cover("event.retry"), DryRun: true},
		} {
			if got := e.Queue.Retry(query); got == 1 != (i == 0) {
				t.Errorf("%d events would be retried with %+v", got, query)
			}
		}
		next.Store(&sluice.Outcome{Pipeline: p.Name, Status: sluice.StatusError, StatusCode: 503, Error: shown, Attempts: 2, Finished: time.Now()})
		if got := e.Queue.Retry(sluice.RetryQuery{TraceID: call.TraceID}); got != 1 {
			t.Errorf("%d events are retried", got)
		}
		natstest.Eventually(t, "the failure", func() bool { return is(sluice.StatusError) })

		good := ok(p.Name, "1")
		next.Store(&good)
		replay(t, e, call.CorrelationID, p)
		natstest.Eventually(t, "the recovery", func() bool { return is(sluice.StatusRecovered) })
		result, err := e.Results.Result(t.Context(), call.CorrelationID, 0)
		if err != nil || result.Status != sluice.StatusError {
			t.Errorf("the result is %s, %v; want the failure", result.Status, err)
		}
	})
}
