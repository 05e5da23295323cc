package jetstream

import (
	"bytes"
	"slices"
	"sync"
	"testing"
	"time"

	"sluice"
	"sluice/jetstream/natstest"
)

// TestLargeEventsOfGroups: the last ones of groups keep no memory from those that they run in place of.
func TestLargeEventsOfGroups(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Options{Dir: t.TempDir()})
	p := bind(t, e, "p", sluice.EventPrefix+"webhook.large", 16)
	var begun sync.WaitGroup
	begun.Add(3)
	together := make(chan struct{})
	go func() { begun.Wait(); close(together) }()
	consumeBy(t, e, p, sluice.Handler{
		Place: func(d sluice.Delivery) sluice.Place {
			return sluice.Place{Group: byContentType(d).Order, Wait: 5 * time.Second, AtMost: time.Hour}
		},
		Run: func(sluice.Delivery) (sluice.Outcome, error) { return ok(p.Name, `1`), nil },
		Supersede: func(sluice.Delivery, string) sluice.Outcome {
			begun.Done()
			select {
			case <-together: // one of each group is in memory
			case <-t.Context().Done():
			}
			return ok(p.Name, `null`)
		},
	})
	var results []sluice.Result
	for i := range 6 {
		large := keyed("webhook.large")
		large.ContentType = []string{"one", "another", "third"}[i%3]
		large.Payload = slices.Concat([]byte{'"'}, bytes.Repeat([]byte{'x'}, sluice.MaxRunBytes/3-1<<10), []byte{'"'})
		result, err := e.Events.Accept(t.Context(), large, 0)
		check(t, err)
		results = append(results, result)
	}
	for _, result := range results {
		if got, err := e.Results.Result(t.Context(), result.CorrelationID, patience); err != nil || got.Status != sluice.StatusOK {
			t.Errorf("an event comes to %s (%v)", got.Status, err)
		}
	}
}

// TestWhatIsSentForLaterNeedsRoom: where the waiting room has none, an event for later keeps its place
// with the pipeline, as one that failed.
func TestWhatIsSentForLaterNeedsRoom(t *testing.T) {
	t.Parallel()
	const room = 2
	e := openEngine(t, Options{Dir: t.TempDir(), WaitingMemory: 2 * room * 200})
	key := natstest.UniqueKey("room")
	p := bind(t, e, "p", sluice.EventPrefix+key, 2) // more at a time may all find room
	consume(t, e, p, func(sluice.Delivery) (sluice.Outcome, error) {
		t.Error("an event runs before its time")
		return ok(p.Name, "1"), nil
	})
	for range 6 * room {
		event := keyed(key)
		event.Due = time.Now().Add(time.Hour).UTC()
		_, err := acceptPatiently(t.Context(), e, event)
		check(t, err)
	}
	natstest.Eventually(t, "events to be given back", func() bool {
		info, err := e.Stored.stream.Consumer(t.Context(), p.Binding.ID)
		return err == nil && info.CachedInfo().NumRedelivered > 0
	})
}
