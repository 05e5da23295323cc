package jetstream

import (
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sluice"
	"sluice/jetstream/natstest"
	"sluice/jetstream/stream"
)

// TestWhatWaitsIsStoredOnce: an event that waits has one state however often it was tried, and a copy once
// it is removed from the stream of events; and nothing is left of it when it is done. A start takes what an
// earlier version stored under the event's own subjects.
func TestWhatWaitsIsStoredOnce(t *testing.T) {
	opts := Options{Dir: t.TempDir()}
	e := openEngine(t, opts)
	key := natstest.UniqueKey("stored")
	p := bind(t, e, strings.Split(key, ".")[1], sluice.EventPrefix+key, 16)
	var back atomic.Bool
	var done atomic.Int64
	run := func(d sluice.Delivery) sluice.Outcome {
		switch {
		case back.Load():
			done.Add(1)
			return ok(p.Name, "1")
		case d.Attempts < 3:
			return again(d, time.Millisecond)
		}
		return again(d, time.Hour)
	}
	serve := func() func() {
		return consume(t, e, p, func(d sluice.Delivery) (sluice.Outcome, error) { return run(d), nil })
	}
	stored := func(want uint64) func() bool {
		return func() bool {
			found, err := e.host.JS.Stream(t.Context(), stream.Waiting)
			check(t, err)
			return found.CachedInfo().State.Msgs == want
		}
	}
	retrying := func(want int64) func() bool {
		return func() bool {
			stats, err := e.Stats(t.Context())
			return err == nil && len(stats.Pipelines) == 1 && stats.Pipelines[0].Retrying == want
		}
	}
	stop := serve()
	const events = 5
	for range events {
		send(t, e, key, 0)
	}
	natstest.Eventually(t, "a state of each", stored(events))
	stop()
	restyle(t, e, p.Binding.ID)
	e.Close()
	e = openEngine(t, opts)
	natstest.Eventually(t, "all to wait", retrying(events))
	info, err := e.Stored.stream.Info(t.Context())
	check(t, err)
	for range 2 { // what has a copy gets no other one
		if info, err = e.Stored.remove(t.Context(), info, info.State.LastSeq); err != nil || info.State.Msgs != 1 {
			t.Fatalf("of the events %d are left: %v", info.State.Msgs, err)
		}
	}
	natstest.Eventually(t, "copies of all but the last event", stored(events+events-1))
	e.Close()
	e = openEngine(t, opts)
	back.Store(true)
	stop = serve()
	defer stop()
	e.Queue.Retry(sluice.RetryQuery{})
	natstest.Eventually(t, "nothing to be left", stored(0))
	natstest.Eventually(t, "none to wait", retrying(0))
	if done.Load() != events {
		t.Errorf("%d events were done, not all %d", done.Load(), events)
	}
}

// restyle stores the first waiting event as earlier versions did.
func restyle(t *testing.T, e *Engine, binding string) {
	t.Helper()
	waiting, err := e.host.JS.Stream(t.Context(), stream.Waiting)
	check(t, err)
	first := waiting.CachedInfo().State.FirstSeq
	msg, err := waiting.GetMsg(t.Context(), first)
	check(t, err)
	var state map[string]any
	check(t, json.Unmarshal(msg.Data, &state))
	subject := stream.WaitingPrefix + binding + "." + state["key"].(string)
	delete(state, "key")
	text, err := json.Marshal(state)
	check(t, err)
	_, err = e.host.JS.Publish(t.Context(), subject+".state", text)
	check(t, err)
	check(t, waiting.DeleteMsg(t.Context(), first))
}
