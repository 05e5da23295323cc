package jetstream

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice"
	"sluice/jetstream/natstest"
)

// TestEventsWaitForMemory: as many events are handed out as there is memory for,
// the others stay in the stream; what has waited so long that the engine handed
// it out again still runs once.
func TestEventsWaitForMemory(t *testing.T) {
	t.Parallel()
	const events, size = 12, 2 << 20
	e := openEngine(t, Options{Dir: t.TempDir(), RunMemory: 12 << 20, AckWait: 2 * time.Second}) // 6 MiB as they are stored
	pipelines := []*sluice.Pipeline{
		bind(t, e, "a", sluice.EventPrefix+"webhook.memory", 16),
		bind(t, e, "b", sluice.EventPrefix+"webhook.memory", 16),
	}
	var open atomic.Int32
	end := make(chan struct{})
	goOn := sync.OnceFunc(func() { close(end) })
	var mu sync.Mutex
	runs, ended := map[string]int{}, 0
	for _, p := range pipelines {
		consume(t, e, p, func(d sluice.Delivery) (sluice.Outcome, error) {
			mu.Lock()
			runs[p.Name+d.TraceID]++
			mu.Unlock()
			open.Add(1)
			defer open.Add(-1)
			<-end
			mu.Lock()
			ended++
			mu.Unlock()
			return ok(p.Name, `1`), nil
		})
	}
	t.Cleanup(goOn) // before those that consume
	for range events {
		large := keyed("webhook.memory")
		large.Payload = slices.Concat([]byte{'"'}, bytes.Repeat([]byte{'x'}, size), []byte{'"'})
		if _, err := e.Events.Accept(t.Context(), large, 0); err != nil {
			t.Fatal(err)
		}
	}
	handedOut := func() (count int) {
		for _, p := range pipelines {
			c, err := e.Stored.stream.Consumer(t.Context(), p.Binding.ID)
			if err != nil {
				t.Fatal(err)
			}
			count += c.CachedInfo().NumAckPending
		}
		return count
	}
	c, err := e.Stored.stream.Consumer(t.Context(), pipelines[0].Binding.ID)
	if err != nil {
		t.Fatal(err)
	}
	ackWait := c.CachedInfo().Config.AckWait
	began := time.Now()
	natstest.Eventually(t, "some wait for so long that they are handed out again", func() bool {
		if handedOut() == 2*events {
			t.Fatal("all are handed out")
		}
		return open.Load() == 2 && time.Since(began) > ackWait+ackWait/4 // of both pipelines together
	})
	for left := 2 * events; left > 2; left-- { // one after the other: what comes again comes meanwhile
		natstest.Eventually(t, "two run", func() bool { return open.Load() == 2 })
		end <- struct{}{}
		natstest.Eventually(t, "one has ended", func() bool { mu.Lock(); defer mu.Unlock(); return ended == 2*events-left+1 })
	}
	goOn()
	natstest.Eventually(t, "all are done", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(runs) == 2*events && handedOut() == 0
	})
	for run, times := range runs {
		if times != 1 {
			t.Errorf("%s has run %d times", run, times)
		}
	}
}
