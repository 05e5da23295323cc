package jetstream

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"sluice"
	"sluice/jetstream/natstest"
	"sluice/jetstream/stream"
)

// batchOf makes a call that brings an event for each id; "" is one without.
func batchOf(key string, ids ...string) sluice.Batch {
	b := sluice.Batch{Call: delivered(key, "", "", 0)}
	b.Call.Fingerprint = nil
	for _, id := range ids {
		e := delivered(key, id, id, time.Hour)
		if id == "" {
			e.Fingerprint = nil
		}
		b.Items = append(b.Items, e)
	}
	b.Number()
	return b
}

// acceptBatch accepts a batch, again while the engine is not sure.
func acceptBatch(t *testing.T, e *Engine, b sluice.Batch) (result sluice.Result, stored []sluice.StoredItem) {
	t.Helper()
	for until := time.Now().Add(30 * time.Second); ; {
		result, stored, err := e.Batches.AcceptBatch(t.Context(), b)
		if err == nil || !sluice.Unavailable.Is(err) || time.Now().After(until) {
			if err != nil {
				t.Error(err)
			}
			return result, stored
		}
	}
}

func wantCounts(t *testing.T, result sluice.Result, events, duplicates int) {
	t.Helper()
	if want := fmt.Sprintf(`{"events":%d,"duplicates":%d}`, events, duplicates); string(result.Value) != want {
		t.Errorf("the call is answered %s, want %s", result.Value, want)
	}
}

// TestABatchStoresEachItemOnce: in another order, at the same moment on several nodes, and over a
// restart; on every set-up.
func TestABatchStoresEachItemOnce(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Engine, shared bool) {
		nodes := []*Engine{open()}
		if shared {
			nodes = append(nodes, open())
		}
		key := natstest.UniqueKey("webhook.batch")
		result, stored := acceptBatch(t, nodes[0], batchOf(key, "a", "b", "", "a"))
		wantCounts(t, result, 3, 1)
		for _, id := range append([]string{result.CorrelationID}, stored[0].CorrelationID, stored[2].CorrelationID) {
			if _, err := nodes[0].Results.Result(t.Context(), id, 0); err != nil {
				t.Errorf("%s has no result: %v", id, err)
			}
		}
		again, _ := nodes[0].Results.Result(t.Context(), result.CorrelationID, 0)
		wantCounts(t, again, 3, 1)
		result, _ = acceptBatch(t, nodes[len(nodes)-1], batchOf(key, "c", "b", "a"))
		wantCounts(t, result, 1, 2)
		result, _ = acceptBatch(t, nodes[0], batchOf(key))
		wantCounts(t, result, 0, 0)
		if one, err := acceptPatiently(t.Context(), nodes[0], delivered(key, "c", "c", time.Hour)); err != nil || !one.Duplicate {
			t.Errorf("an item that comes alone: %+v, %v", one, err)
		}
		var mu sync.Mutex
		var all sync.WaitGroup
		times := map[string]int{}
		for i := range 8 {
			ids := []string{"m", "n", "o", "p"}
			ids[0], ids[i%4] = ids[i%4], ids[0] // in several orders
			all.Go(func() {
				_, stored := acceptBatch(t, nodes[i%len(nodes)], batchOf(key, ids...))
				mu.Lock()
				defer mu.Unlock()
				for _, item := range stored {
					times[item.DeliveryID]++
				}
			})
		}
		all.Wait()
		if len(times) != 4 || times["m"]+times["n"]+times["o"]+times["p"] != 4 {
			t.Errorf("at the same moment the items were stored %v times", times)
		}
		if !shared {
			nodes[0].Close()
			result, _ = acceptBatch(t, open(), batchOf(key, "p", "a", "new"))
			wantCounts(t, result, 1, 2)
		}
	})
}

// TestABatchIsWholeOrNotThere: wherever a kill or a power cut ends what was being written, a start
// finds all events of a call or none, and loses nothing that was stored before.
func TestABatchIsWholeOrNotThere(t *testing.T) {
	t.Parallel()
	opts := Options{Dir: t.TempDir(), SealEvents: true}
	e := openEngine(t, opts)
	before, first := acceptBatch(t, e, batchOf("webhook.before", "1", "2"))
	check(t, e.writeWatermarks(t.Context()))
	marks, err := os.ReadFile(filepath.Join(opts.Dir, watermarksFile))
	check(t, err)
	from := sizeOf(t, blockOf(opts.Dir, stream.Events, 1))
	_, stored := acceptBatch(t, e, batchOf("webhook.torn", "a", "b", "c", "d", "e"))
	to := sizeOf(t, blockOf(opts.Dir, stream.Events, 1))
	killed := t.TempDir()
	check(t, os.CopyFS(killed, os.DirFS(opts.Dir)))
	torn := 0
	for cut := from; cut <= to; cut += max(1, (to-from)/11) {
		opts.Dir = t.TempDir()
		check(t, os.CopyFS(opts.Dir, os.DirFS(killed)))
		check(t, os.WriteFile(filepath.Join(opts.Dir, watermarksFile), marks, 0o600))
		check(t, os.Truncate(blockOf(opts.Dir, stream.Events, 1), cut))
		for round := range 2 { // the second start finds the same
			e := openEngine(t, opts)
			there := 0
			for _, item := range stored {
				if _, err := e.Results.Result(t.Context(), item.CorrelationID, 0); err == nil {
					there++
				} else if sluice.AsError(err).Kind != sluice.Gone {
					t.Error(err)
				}
			}
			if there != 0 && there != len(stored) || there == 0 && cut == to {
				t.Errorf("cut at %d of %d to %d, there are %d of %d events", cut, from, to, there, len(stored))
			}
			for _, id := range []string{before.CorrelationID, first[0].CorrelationID, first[1].CorrelationID} {
				_, err := e.Results.Result(t.Context(), id, 0)
				check(t, err)
			}
			if lost := e.Stored.lost.Load(); lost > 0 {
				t.Errorf("%d events are said to be lost", lost)
			}
			torn += e.forgotten.Count()
			if there == 0 {
				result, _ := acceptBatch(t, e, batchOf("webhook.torn", "e", "a"))
				wantCounts(t, result, 2-2*round, 2*round)
			}
			e.Close()
		}
	}
	if torn == 0 {
		t.Error("no cut has torn a call: the test proves nothing")
	}
}

func sizeOf(t *testing.T, file string) int64 {
	t.Helper()
	info, err := os.Stat(file)
	check(t, err)
	return info.Size()
}
