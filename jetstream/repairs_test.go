package jetstream

import (
	"testing"
	"time"

	"sluice"
	"sluice/jetstream/natstest"
	"sluice/problem"
)

// TestARecoverySurvivesACrash: what a crash takes right after the outcome of a good replay was
// stored is made up for at the next start: the call has recovered, and its letter goes.
func TestARecoverySurvivesACrash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := openEngine(t, Options{Dir: dir})
	p := bind(t, e, "p", sluice.EventPrefix+"webhook.repaired", 16)
	shown := problem.Of(sluice.CodeHTTPFailed.Errorf("The target is away."))
	stop := consume(t, e, p, func(sluice.Delivery) (sluice.Outcome, error) {
		return sluice.Outcome{Pipeline: p.Name, Status: sluice.StatusError, StatusCode: 503, Error: shown, Attempts: 1, Finished: time.Now().UTC()}, nil
	})
	failed := send(t, e, "webhook.repaired", patience)
	stop()
	stored, err := e.Journal.Event(t.Context(), failed.CorrelationID)
	check(t, err)
	replay, err := stored.Replay(t.Context(), failed.CorrelationID, p.Name)
	check(t, err)
	accepted, err := e.Events.Accept(t.Context(), replay, 0)
	check(t, err)
	reference, _ := e.Stored.ids.Parse(accepted.CorrelationID)
	_, err = e.Queue.Outcomes.Put(t.Context(), reference.Sequence, accepted.TraceID, ok(p.Name, "1"))
	check(t, err)
	if letters := deadLettersOf(t, e); letters != 1 {
		t.Fatalf("there are %d dead letters", letters)
	}
	e.Close()
	e = openEngine(t, Options{Dir: dir})
	if repaired := e.Repaired(t.Context()); len(repaired) != 1 || !repaired[0].Equal(stored.ReceivedAt) {
		t.Errorf("replays have repaired calls of %s, not of %s", repaired, stored.ReceivedAt)
	}
	natstest.Eventually(t, "the letter to go", func() bool { return deadLettersOf(t, e) == 0 })
	natstest.Eventually(t, "the recovery", func() bool {
		calls, _, err := e.Journal.Calls(t.Context(), sluice.TraceQuery{EventKey: "webhook.repaired", Status: sluice.StatusRecovered, Limit: 10})
		return err == nil && len(calls) == 1 && calls[0].TraceID == failed.TraceID
	})
}
