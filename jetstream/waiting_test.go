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

// TestWhatWaitsIsStoredOnce: an event that waits has one state and one copy however often it was tried,
// and nothing is left of it when it is done. A start removes copies without a state, and takes what an
// earlier version stored under the event's own subjects.
func TestWhatWaitsIsStoredOnce(t *testing.T) {
	opts := Options{Dir: t.TempDir()}
	e := openEngine(t, opts)
	key := natstest.UniqueKey("stored")
	p := bind(t, e, strings.Split(key, ".")[1], sluice.EventPrefix+key, 16)
	var back atomic.Bool
	run := func(d sluice.Delivery) sluice.Outcome {
		switch {
		case back.Load():
			return ok(p.Name, "1")
		case d.Attempts < 3:
			return again(d, time.Millisecond)
		}
		return again(d, time.Hour)
	}
	serve := func() func() {
		return consume(t, e, p, func(d sluice.Delivery) (sluice.Outcome, error) { return run(d), nil })
	}
	stored := func(states, copies uint64) func() bool {
		return func() bool {
			for name, want := range map[string]uint64{stream.Waiting: states, stream.Copies: copies} {
				found, err := e.host.JS.Stream(t.Context(), name)
				check(t, err)
				if found.CachedInfo().State.Msgs != want {
					return false
				}
			}
			return true
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
	natstest.Eventually(t, "a state and a copy of each", stored(events, events))
	stop()
	publish := func(subject string, data []byte) {
		_, err := e.host.JS.Publish(t.Context(), subject, data)
		check(t, err)
	}
	publish(stream.CopyPrefix+p.Binding.ID, []byte("{}\n{}")) // a process ends before it has stored a state
	restyle(t, e, p.Binding.ID, publish)
	e.Close()
	e = openEngine(t, opts)
	natstest.Eventually(t, "all to wait", retrying(events))
	natstest.Eventually(t, "the copy without a state to go", stored(events+1, events-1))
	back.Store(true)
	stop = serve()
	defer stop()
	e.Queue.Retry(sluice.RetryQuery{})
	natstest.Eventually(t, "nothing to be left", stored(0, 0))
	natstest.Eventually(t, "none to wait", retrying(0))
}

// restyle stores the first waiting event as earlier versions did.
func restyle(t *testing.T, e *Engine, binding string, publish func(subject string, data []byte)) {
	t.Helper()
	waiting, err := e.host.JS.Stream(t.Context(), stream.Waiting)
	check(t, err)
	copies, err := e.host.JS.Stream(t.Context(), stream.Copies)
	check(t, err)
	first := waiting.CachedInfo().State.FirstSeq
	msg, err := waiting.GetMsg(t.Context(), first)
	check(t, err)
	var state map[string]any
	check(t, json.Unmarshal(msg.Data, &state))
	subject, at := stream.WaitingPrefix+binding+"."+state["key"].(string), uint64(state["copy"].(float64))
	copied, err := copies.GetMsg(t.Context(), at)
	check(t, err)
	publish(subject+".event", copied.Data)
	delete(state, "key")
	delete(state, "copy")
	text, err := json.Marshal(state)
	check(t, err)
	publish(subject+".state", text)
	check(t, waiting.DeleteMsg(t.Context(), first))
	check(t, copies.DeleteMsg(t.Context(), at))
}
