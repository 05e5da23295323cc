package jetstream

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/natstest"
	"sluice/jetstream/stream"
)

func TestListeners(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Options{Dir: t.TempDir()})
	store := func(name, pattern string) {
		t.Helper()
		_, err := e.Pipelines.Change(t.Context(), name, func(*sluice.Pipeline, map[string]*sluice.Pipeline) (*sluice.Pipeline, error) {
			return &sluice.Pipeline{Name: name, Binding: &sluice.Binding{Pattern: pattern}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	want := func(key string, names ...string) {
		t.Helper()
		if got := e.Stored.Queue.Listeners.Of(key, ""); !slices.Equal(got, names) {
			t.Errorf("%s is listened to by %v, want %v", key, got, names)
		}
	}
	want("svc.event.a")
	store("z", "svc.event.a")
	store("b", "svc.event.a")
	want("svc.event.a", "b", "z")
	store("m", "svc.event.*")
	want("svc.event.a", "b", "m", "z")
	want("svc.event.c", "m")
	want("other")
	store("z", "other")
	want("svc.event.a", "b", "m")
	want("other", "z")
}

func TestUnboundConsumersAreDropped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := openEngine(t, Options{Dir: dir})
	if _, err := e.Queue.Bind(t.Context(), "svc.event.a", 16); err != nil { // and no pipeline is stored
		t.Fatal(err)
	}
	bind(t, e, "p", "svc.event.b", 16)
	e.Close()
	e = openEngine(t, Options{Dir: dir})
	info, err := e.Stored.stream.Info(t.Context())
	if err != nil || info.State.Consumers != 1 {
		t.Errorf("there are %d consumers (%v), want 1", info.State.Consumers, err)
	}
}

// TestALostConsumerRunsNothingAnew: after a power cut the engine may have forgotten how far a
// pipeline had come.
func TestALostConsumerRunsNothingAnew(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := openEngine(t, Options{Dir: dir})
	p := bind(t, e, "p", sluice.EventPrefix+"webhook.once", 16)
	runs := make(chan string, 100)
	run := func(d sluice.Delivery) (sluice.Outcome, error) {
		runs <- d.TraceID
		return ok(p.Name, `1`), nil
	}
	stop := consume(t, e, p, run)
	for range 10 {
		send(t, e, "webhook.once", patience)
	}
	natstest.Eventually(t, "all events are acknowledged", func() bool {
		info, err := e.Stored.stream.Consumer(t.Context(), p.Binding.ID)
		return err == nil && info.CachedInfo().NumAckPending == 0
	})
	if err := e.Queue.LowWater.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 10 { // above the floor
		send(t, e, "webhook.once", patience)
	}
	stop()
	if err := e.Stored.stream.DeleteConsumer(t.Context(), p.Binding.ID); err != nil {
		t.Fatal(err)
	}
	// Below the low-water mark not even the outcomes are needed.
	outcomes, err := e.host.JS.Stream(t.Context(), stream.Results)
	if err != nil {
		t.Fatal(err)
	}
	if err := outcomes.Purge(t.Context(), jetstream.WithPurgeSequence(11)); err != nil {
		t.Fatal(err)
	}
	e.Close()
	e = openEngine(t, Options{Dir: dir})
	consume(t, e, p, run)
	last := send(t, e, "webhook.once", patience)
	if last.Status != sluice.StatusOK {
		t.Fatalf("the status is %s", last.Status)
	}
	natstest.Eventually(t, "all events are acknowledged again", func() bool {
		info, err := e.Stored.stream.Consumer(t.Context(), p.Binding.ID)
		return err == nil && info.CachedInfo().NumAckPending == 0 && info.CachedInfo().NumPending == 0
	})
	if len(runs) != 21 {
		t.Errorf("there were %d runs of 21 events", len(runs))
	}
}

// TestLargeEventsRunFewAtATime: as values they take many times their size, so
// slots alone don't bound the memory of a pipeline.
func TestLargeEventsRunFewAtATime(t *testing.T) {
	t.Parallel()
	const events, together = 5, 2
	e := openEngine(t, Options{Dir: t.TempDir()})
	p := bind(t, e, "p", sluice.EventPrefix+"webhook.large", 16)
	var open, most atomic.Int32
	end := make(chan struct{})
	consume(t, e, p, func(sluice.Delivery) (sluice.Outcome, error) {
		now := open.Add(1)
		defer open.Add(-1)
		for before := most.Load(); now > before && !most.CompareAndSwap(before, now); before = most.Load() {
		}
		<-end
		return ok(p.Name, `1`), nil
	})
	var last sluice.Result
	for range events {
		large := keyed("webhook.large")
		large.Payload = slices.Concat([]byte{'"'}, bytes.Repeat([]byte{'x'}, sluice.MaxRunBytes/(together+1)+1<<20), []byte{'"'})
		var err error
		if last, err = e.Events.Accept(t.Context(), large, 0); err != nil {
			t.Fatal(err)
		}
	}
	natstest.Eventually(t, "all events are handed out, and some run", func() bool {
		info, err := e.Stored.stream.Consumer(t.Context(), p.Binding.ID)
		return err == nil && info.CachedInfo().NumAckPending == events && open.Load() == together
	})
	close(end)
	result, err := e.Results.Result(t.Context(), last.CorrelationID, patience)
	if err != nil || result.Status != sluice.StatusOK {
		t.Errorf("the last event comes to %s, %v", result.Status, err)
	}
	if most.Load() != together {
		t.Errorf("%d events were open at the same time, want %d", most.Load(), together)
	}
}

// TestConsumingIsTriedAgain: a consumer that the engine loses is made again, and its pipeline
// goes on.
func TestConsumingIsTriedAgain(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Engine, _ bool) {
		e := open()
		key := natstest.UniqueKey("lost")
		p := bind(t, e, strings.Split(key, ".")[1], sluice.EventPrefix+key, 16)
		consume(t, e, p, answering(p, `1`))
		send(t, e, key, patience)
		if err := e.Stored.stream.DeleteConsumer(t.Context(), p.Binding.ID); err != nil {
			t.Fatal(err)
		}
		if got := send(t, e, key, patience); got.Status != sluice.StatusOK {
			t.Errorf("the second event comes to %s", got.Status)
		}
	})
}

// TestAConsumerLostUnderWayRunsNothingAnew: an event with an outcome is not run again, even if
// the process that ran it goes on.
func TestAConsumerLostUnderWayRunsNothingAnew(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Engine, _ bool) {
		e := open()
		key := natstest.UniqueKey("lost")
		p := bind(t, e, strings.Split(key, ".")[1], sluice.EventPrefix+key, 16)
		var runs atomic.Int32
		consume(t, e, p, func(sluice.Delivery) (sluice.Outcome, error) {
			runs.Add(1)
			return ok(p.Name, `1`), nil
		})
		const events = 20
		for range events {
			send(t, e, key, patience)
		}
		if err := e.Stored.stream.DeleteConsumer(t.Context(), p.Binding.ID); err != nil {
			t.Fatal(err)
		}
		send(t, e, key, patience)
		natstest.Eventually(t, "all events are done with", func() bool {
			consumer, err := e.Stored.stream.Consumer(t.Context(), p.Binding.ID)
			if err != nil {
				return false
			}
			info := consumer.CachedInfo()
			return info.NumAckPending == 0 && info.NumPending == 0 && info.Delivered.Consumer > events
		})
		if got := runs.Load(); got != events+1 {
			t.Errorf("there were %d runs of %d events", got, events+1)
		}
	})
}

// TestAKillKeepsNothingHandedOut: what a killed process had begun comes again at once, and not when
// the engine gives up waiting for it: that is by the clock on the wall, which may be set back.
func TestAKillKeepsNothingHandedOut(t *testing.T) {
	opts := Options{Dir: t.TempDir(), AckWait: time.Hour}
	e := openEngine(t, opts)
	key := natstest.UniqueKey("killed")
	p := bind(t, e, "killed", sluice.EventPrefix+key, 4)
	begun, end := make(chan string, 1), make(chan struct{})
	consume(t, e, p, func(d sluice.Delivery) (sluice.Outcome, error) {
		begun <- d.TraceID
		<-end
		return ok(p.Name, "1"), nil
	})
	t.Cleanup(func() { close(end) })
	send(t, e, key, 0)
	first := <-begun
	killed := t.TempDir()
	check(t, os.CopyFS(killed, os.DirFS(opts.Dir)))
	opts.Dir = killed
	e = openEngine(t, opts)
	consume(t, e, p, func(d sluice.Delivery) (sluice.Outcome, error) {
		begun <- d.TraceID
		return ok(p.Name, "1"), nil
	})
	select {
	case again := <-begun:
		if again != first {
			t.Errorf("%s came again, and not %s", again, first)
		}
	case <-time.After(time.Minute):
		t.Error("it does not come again")
	}
}
