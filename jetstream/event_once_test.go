package jetstream

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"sluice"
	"sluice/jetstream/delivery"
	"sluice/jetstream/natstest"
	"sluice/jetstream/stream"
)

func delivered(key, id, body string, window time.Duration) *sluice.Event {
	const token = "00000000-0000-4000-8000-0000008e28f2"
	now := time.Now()
	return &sluice.Event{
		EventKey: key, TraceID: sluice.NewTraceID(token, now), ReceivedAt: now.UTC(), Method: "POST", DeliveryID: id,
		Fingerprint: fingerprintOf(token, id, []byte(body), window),
	}
}

// TestARepeatedDeliveryIsOneEvent: at the same moment, on several nodes, again
// later, and over a restart; on every set-up.
func TestARepeatedDeliveryIsOneEvent(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Engine, shared bool) {
		nodes := []*Engine{open()}
		if shared {
			nodes = append(nodes, open())
		}
		key := natstest.UniqueKey("webhook.once")
		const ids, times = 12, 6
		var mu sync.Mutex
		firsts, results := map[string]string{}, map[string]map[string]bool{}
		var all sync.WaitGroup
		for i := range ids * times {
			all.Go(func() {
				id := fmt.Sprint("id-", i%ids)
				result, err := acceptPatiently(t.Context(), nodes[i%len(nodes)], delivered(key, id, "body", time.Hour))
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				if results[id] == nil {
					results[id] = map[string]bool{}
				}
				results[id][result.CorrelationID+" "+result.TraceID] = true
				if !result.Duplicate {
					if firsts[id] != "" {
						t.Errorf("%s was accepted twice", id)
					}
					firsts[id] = result.CorrelationID
				}
				if result.Differs {
					t.Errorf("%s differs", id)
				}
			})
		}
		all.Wait()
		for id, of := range results {
			if len(of) != 1 || firsts[id] == "" {
				t.Errorf("%s has the results %v, and the first is %q", id, of, firsts[id])
			}
		}
		if n := storedEvents(t, nodes[0], key); n != ids {
			t.Errorf("%d events, want %d", n, ids)
		}
		again := func(e *Engine, id, body string, window time.Duration) sluice.Result {
			result, err := acceptPatiently(t.Context(), e, delivered(key, id, body, window))
			if err != nil {
				t.Fatal(err)
			}
			return result
		}
		if r := again(nodes[0], "id-0", "another body", time.Hour); !r.Duplicate || !r.Differs || r.CorrelationID != firsts["id-0"] {
			t.Errorf("with another body: %+v", r)
		}
		for _, e := range nodes {
			e.Close()
		}
		restarted := open()
		for id, first := range firsts {
			if r := again(restarted, id, "body", time.Hour); !r.Duplicate || r.CorrelationID != first {
				t.Fatalf("%s after a restart: %+v, the first was %s", id, r, first)
			}
		}
		if r := again(restarted, "id-1", "body", time.Nanosecond); r.Duplicate {
			t.Error("a delivery is known beyond its window")
		}
	})
}

// TestADeliveryInDoubtIsOneEvent, if its first call was stored and nobody was told. What is no
// delivery is an event each time.
func TestADeliveryInDoubtIsOneEvent(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Options{Dir: t.TempDir()})
	write := e.Stored.write
	e.Stored.write = func(ctx context.Context, subject string, header nats.Header, data []byte) (uint64, error) {
		if _, err := write(ctx, subject, header, data); err != nil {
			return 0, err
		}
		return 0, stream.NoAnswer(errors.New("the answer is lost"))
	}
	const key = "webhook.doubt"
	_, err := e.Events.Accept(t.Context(), delivered(key, "1", "body", time.Hour), 0)
	wantKind(t, err, sluice.Unavailable)
	e.Stored.write = write
	if again, err := e.Events.Accept(t.Context(), delivered(key, "1", "body", time.Hour), 0); err != nil || !again.Duplicate || again.Differs {
		t.Errorf("after a doubt it is %+v, %v", again, err)
	}
	for range 2 {
		if passed, err := e.Events.Accept(t.Context(), call(key), 0); err != nil || passed.Duplicate {
			t.Errorf("what is no delivery is %+v, %v", passed, err)
		}
	}
	if n := storedEvents(t, e, key); n != 3 {
		t.Errorf("%d events, want 3", n)
	}
}

func acceptPatiently(ctx context.Context, e *Engine, event *sluice.Event) (sluice.Result, error) {
	return natstest.Patiently(ctx, func() (sluice.Result, error) { return e.Events.Accept(ctx, event, 0) })
}

// storedEvents counts the events with a key.
func storedEvents(t *testing.T, e *Engine, key string) (n int) {
	t.Helper()
	info, err := e.Stored.stream.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for sequence := info.State.FirstSeq; sequence <= info.State.LastSeq; sequence++ {
		if msg, err := e.Stored.stream.GetMsg(t.Context(), sequence); err == nil && strings.HasSuffix(msg.Subject, key) {
			n++
		}
	}
	return n
}

// TestDeliveriesAreKnownAfterAKill: a start reads the events that no record covers, and writes
// records for them. It does not read events from before there were records.
func TestDeliveriesAreKnownAfterAKill(t *testing.T) {
	t.Parallel()
	for _, events := range []int{1, 40, 5300} {
		t.Run(fmt.Sprint(events), func(t *testing.T) { killBehind(t, events) })
	}
}

func killBehind(t *testing.T, events int) {
	dir := t.TempDir()
	e := openEngine(t, Options{Dir: dir})
	accept := func(e *Engine, id string) sluice.Result {
		result, err := e.Events.Accept(t.Context(), delivered("webhook.kill", id, "", 24*time.Hour), 0)
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	var all sync.WaitGroup
	for i := range events {
		all.Go(func() { accept(e, fmt.Sprint(i)) })
	}
	all.Wait()
	e.closing.Do(func() {}) // as if it were killed: nothing is written at the end
	e.Close()
	e = openEngine(t, Options{Dir: dir})
	for _, i := range []int{0, events / 2, events - 1} {
		if !accept(e, fmt.Sprint(i)).Duplicate {
			t.Errorf("%d is not known", i)
		}
	}
	if n := e.once.(*delivery.Indexed).Count(); n != int64(events) {
		t.Errorf("%d ids are known", n)
	}
	accept(e, "one more")
	e.Close()
	e = openEngine(t, Options{Dir: dir})
	if !accept(e, "one more").Duplicate || !accept(e, "0").Duplicate {
		t.Error("a delivery is not known after a clean stop")
	}
}

// TestWhatCameIsKnownAfterAnErasureAndAKill: the engine forgets when its last event came, if that was erased.
func TestWhatCameIsKnownAfterAnErasureAndAKill(t *testing.T) {
	opts := Options{Dir: t.TempDir()}
	e := openEngine(t, opts)
	first, err := e.Events.Accept(t.Context(), delivered("webhook.kill", "1", "", time.Hour), 0)
	check(t, err)
	check(t, e.Erasures.Erase(t.Context(), []sluice.Call{callOf(t, e, send(t, e, "webhook.kill", 0).TraceID)}))
	killed := t.TempDir()
	check(t, os.CopyFS(killed, os.DirFS(opts.Dir)))
	opts.Dir = killed
	e = openEngine(t, opts)
	calls, _, err := e.Journal.Calls(t.Context(), sluice.TraceQuery{From: time.Now().Add(-time.Hour), Limit: 10})
	check(t, err)
	again, err := e.Events.Accept(t.Context(), delivered("webhook.kill", "1", "", time.Hour), 0)
	check(t, err)
	if len(calls) != 2 || !again.Duplicate || again.TraceID != first.TraceID {
		t.Errorf("%d calls are found, and after %+v came %+v", len(calls), first, again)
	}
}

// fingerprintOf returns the fingerprint of a delivery of a webhook without a key.
func fingerprintOf(owner, id string, body []byte, window time.Duration) *sluice.Fingerprint {
	var e sluice.Event
	e.SetFingerprint(nil, owner, id, body, window)
	return e.Fingerprint
}
