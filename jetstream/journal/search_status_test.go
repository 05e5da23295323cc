package journal_test

import (
	"slices"
	"testing"
	"time"

	"sluice"
	"sluice/jetstream"
	"sluice/jetstream/natstest"
	"sluice/problem"
)

// A call is found by how far it has come and by the pipeline that it was handed
// to, also long after it was made.
func TestCallsAreFoundByWhatBecameOfThem(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *jetstream.Engine, _ bool) {
		e := open()
		key, owner := natstest.UniqueKey("became"), owner()
		name := func(what string) string { return what + "-" + owner }
		picky, stuck := bind(t, e, name("picky"), sluice.EventPrefix+key), bind(t, e, name("stuck"), sluice.EventPrefix+key+".stuck")
		const calls = 150                        // in several chunks
		before := time.Now().Add(-2 * time.Hour) // when results are not kept any more
		var failed, went []string
		for i := range calls {
			made := called(t, e, owner, key, before.Add(time.Duration(i)*time.Second))
			if i%50 == 7 {
				failed = append(failed, made.TraceID)
			} else {
				went = append(went, made.TraceID)
			}
		}
		waiting := called(t, e, owner, key+".stuck", time.Now().Add(-20*time.Minute)).TraceID
		unheard := called(t, e, owner, key+".unheard", before).TraceID
		shown := problem.Of(sluice.Code("no").Errorf("No.").OfKind(sluice.Invalid))
		consume(t, e, picky, func(d sluice.Delivery) (sluice.Outcome, error) {
			if slices.Contains(failed, d.TraceID) {
				return sluice.Outcome{Pipeline: picky.Name, Status: sluice.StatusError, StatusCode: 400, Error: shown, Attempts: 1, Finished: time.Now()}, nil
			}
			return ok(picky.Name, "1"), nil
		})
		wants := func(when string, q sluice.TraceQuery, want ...[]string) {
			t.Helper()
			all := slices.Sorted(slices.Values(slices.Concat(want...)))
			for _, q.Limit = range []int{2, 1000} {
				if got := slices.Sorted(slices.Values(ids(find(t, e, q)))); !slices.Equal(got, all) {
					t.Errorf("%s: %+v finds %d calls, want %d: %v", when, q, len(got), len(all), got)
				}
			}
		}
		natstest.Eventually(t, "the runs", func() bool {
			return len(find(t, e, sluice.TraceQuery{TraceID: owner, Status: sluice.StatusProcessing})) == 1 &&
				len(find(t, e, sluice.TraceQuery{TraceID: owner, Status: sluice.StatusError})) == len(failed)
		})
		check := func(when string) {
			t.Helper()
			wants(when, sluice.TraceQuery{TraceID: owner, Status: sluice.StatusError}, failed)
			wants(when, sluice.TraceQuery{TraceID: owner, Status: sluice.StatusOK}, went, []string{unheard})
			wants(when, sluice.TraceQuery{TraceID: owner, Status: sluice.StatusProcessing}, []string{waiting})
			wants(when, sluice.TraceQuery{Pipeline: picky.Name}, failed, went)
			wants(when, sluice.TraceQuery{Pipeline: picky.Name, Status: sluice.StatusError}, failed)
			wants(when, sluice.TraceQuery{Pipeline: stuck.Name}, []string{waiting})
			wants(when, sluice.TraceQuery{Pipeline: name("nobody")})
		}
		check("right away")
		storePipeline(t, e, stuck.Name, nil)
		failed = append(failed, waiting) // nobody will run it
		wants("without its pipeline", sluice.TraceQuery{TraceID: owner, Status: sluice.StatusError}, failed)
		wants("without its pipeline", sluice.TraceQuery{TraceID: owner, Status: sluice.StatusProcessing})
	})
}

// TestACallIsFoundAfterTheClockWasSetBack: calls whose times are hours from when the engine
// says that they were stored are found by their whole trace ids.
func TestACallIsFoundAfterTheClockWasSetBack(t *testing.T) {
	e := openEngine(t, jetstream.Options{Dir: t.TempDir()})
	who, now := owner(), time.Now()
	for _, at := range []time.Time{now.Add(5 * time.Hour), now, now.Add(-5 * time.Hour)} {
		call := called(t, e, who, "webhook.clock", at)
		wantCalls(t, at.Sub(now).String(), find(t, e, sluice.TraceQuery{TraceID: call.TraceID}), []sluice.Call{call})
	}
	if got := find(t, e, sluice.TraceQuery{TraceID: sluice.NewTraceID(who, now)}); got != nil {
		t.Errorf("a call that never was is %+v", got)
	}
}
