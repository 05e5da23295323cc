package jetstream

import (
	"testing"

	"github.com/nats-io/nats.go"

	"sluice"
	"sluice/jetstream/natstest"
	"sluice/jetstream/stream"
)

// TestOnlyNodesThatWaitAreTold of an outcome: the one that accepted the call, if its
// caller waits, or one where the result is polled.
func TestOnlyNodesThatWaitAreTold(t *testing.T) {
	t.Parallel()
	url := natstest.Start(natstest.Options()).ClientURL()
	open := func() *Engine { return openEngine(t, Options{URL: url, Replicas: 1}) }
	runs, accepts := open(), open()
	told := make(chan *nats.Msg, 100)
	watcher, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Close()
	if _, err := watcher.ChanSubscribe(stream.DonePrefix+">", told); err != nil {
		t.Fatal(err)
	}
	asked := make(chan *nats.Msg, 100)
	if _, err := watcher.ChanSubscribe(stream.AwaitSubject, asked); err != nil {
		t.Fatal(err)
	}
	if err := watcher.Flush(); err != nil {
		t.Fatal(err)
	}
	p := bind(t, runs, "p", sluice.EventPrefix+"webhook.told", 4)
	gate := make(chan struct{}, 100)
	consume(t, runs, p, func(sluice.Delivery) (sluice.Outcome, error) {
		<-gate
		return ok("p", `1`), nil
	})
	natstest.Eventually(t, "the other node knows the pipeline", func() bool { return accepts.Stored.Queue.Listeners.Binding("p") != nil })
	count := func(want int, when string) {
		t.Helper()
		if err := watcher.Flush(); err != nil { // all that was sent before has arrived
			t.Fatal(err)
		}
		if len(told) != want {
			t.Errorf("%d nodes are told %s, want %d", len(told), when, want)
		}
		for len(told) > 0 {
			<-told
		}
	}
	done := func(e *Engine, r sluice.Result) {
		t.Helper()
		natstest.Eventually(t, "the result", func() bool {
			got, err := e.Results.Result(t.Context(), r.CorrelationID, 0)
			return err == nil && got.Status == sluice.StatusOK
		})
	}

	gate <- struct{}{}
	done(runs, send(t, accepts, "webhook.told", 0))
	count(0, "though nobody waits")

	gate <- struct{}{}
	if r := send(t, runs, "webhook.told", patience); r.Status != sluice.StatusOK {
		t.Errorf("at the node that ran it, the call is %s", r.Status)
	}
	count(0, "though the caller waits where it ran")

	gate <- struct{}{}
	if r := send(t, accepts, "webhook.told", patience); r.Status != sluice.StatusOK {
		t.Errorf("at another node, the call is %s", r.Status)
	}
	count(1, "when the caller waits elsewhere")

	r := send(t, runs, "webhook.told", 0)
	for len(asked) > 0 {
		<-asked
	}
	go func() {
		<-asked // by the poll; the node that runs it has heard it, too, or hears it first
		if err := runs.host.Conn.FlushTimeout(patience); err != nil {
			t.Error(err)
		}
		gate <- struct{}{}
	}()
	polled, err := accepts.Results.Result(t.Context(), r.CorrelationID, patience)
	if err != nil || polled.Status != sluice.StatusOK {
		t.Errorf("a poll elsewhere gives %s (%v)", polled.Status, err)
	}
	count(1, "when the result is polled elsewhere")
}
