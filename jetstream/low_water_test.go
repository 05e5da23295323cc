package jetstream

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"sluice"
	"sluice/jetstream/natstest"
	"sluice/jetstream/record"
	"sluice/jetstream/stream"
)

// stateOf returns the file in which the engine keeps how far a pipeline is.
func stateOf(dir string, p *sluice.Pipeline) string {
	return filepath.Join(dir, "jetstream", "$G", "streams", stream.Events, "obs", p.Binding.ID, "o.dat")
}

// TestAPipelineGoesOnAfterItsStateIsZeros: a power cut may leave such a file if it was not
// synced.
func TestAPipelineGoesOnAfterItsStateIsZeros(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := openEngine(t, Options{Dir: dir})
	p := bind(t, e, "p", sluice.EventPrefix+"webhook.zeros", 1)
	stop := consume(t, e, p, answering(p, `"first"`))
	first := send(t, e, "webhook.zeros", patience)
	stop()
	e.Close()
	if err := os.WriteFile(stateOf(dir, p), make([]byte, 125), 0o600); err != nil {
		t.Fatal(err)
	}
	e = openEngine(t, Options{Dir: dir})
	consume(t, e, p, answering(p, `"second"`))
	if got := send(t, e, "webhook.zeros", patience); string(got.Value) != `"second"` {
		t.Fatalf("the second event comes to %s %s", got.Status, got.Value)
	}
	again, err := e.Results.Result(t.Context(), first.CorrelationID, 0)
	if err != nil || string(again.Value) != `"first"` {
		t.Errorf("the first event comes to %s %s (%v) after the restart", again.Status, again.Value, err)
	}
}

// TestWhatIsDoneIsNotRunAgain, even if both its result and the state of its consumer are gone.
func TestWhatIsDoneIsNotRunAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	opts := Options{Dir: dir, ResultTTL: 100 * time.Millisecond}
	e := openEngine(t, opts)
	p := bind(t, e, "p", sluice.EventPrefix+"webhook.floor", 1)
	stop := consume(t, e, p, answering(p, `1`))
	done := send(t, e, "webhook.floor", patience)
	place, _ := e.Stored.ids.Parse(done.CorrelationID)
	sequence := place.Sequence
	natstest.Eventually(t, "the acknowledgement", func() bool {
		return e.Queue.LowWater.Write(t.Context()) == nil && e.Queue.LowWater.Of(p.Binding.ID) == sequence
	})
	natstest.Eventually(t, "the result to expire", func() bool {
		_, err := e.Results.Result(t.Context(), done.CorrelationID, 0)
		return err != nil && sluice.AsError(err).Kind == sluice.Gone
	})
	stop()
	e.Close()
	if err := os.Remove(stateOf(dir, p)); err != nil {
		t.Fatal(err)
	}
	e = openEngine(t, opts)
	runs := make(chan string, 10)
	consume(t, e, p, func(d sluice.Delivery) (sluice.Outcome, error) {
		runs <- d.CorrelationID
		return ok(p.Name, `2`), nil
	})
	next := send(t, e, "webhook.floor", patience)
	if id := <-runs; id != next.CorrelationID {
		t.Errorf("the event that was done runs again")
	}
}

// TestAFloorAboveTheNewestEvent: a damaged disk may have lost the events up to the low-water
// mark. New events get their sequences, and these are not done.
func TestAFloorAboveTheNewestEvent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := openEngine(t, Options{Dir: dir})
	p := bind(t, e, "p", sluice.EventPrefix+"webhook.above", 1)
	type floor struct {
		All map[string]uint64 `json:"all"`
	}
	e.marking.Lock()
	generation, err := e.generation(t.Context())
	e.marking.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	floors := record.New[floor](e.host, "floors")
	if err := floors.SetUp(t.Context(), t.Context(), generation); err != nil {
		t.Fatal(err)
	}
	_, err = floors.Change(t.Context(), "all", func(*floor, map[string]*floor) (*floor, error) {
		return &floor{map[string]uint64{p.Binding.ID: 100}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "the floor is known", func() bool { return e.Queue.LowWater.Of(p.Binding.ID) == 100 })
	consume(t, e, p, answering(p, `1`))
	if got := send(t, e, "webhook.above", patience); got.Status != sluice.StatusOK {
		t.Errorf("an event below the floor is %s", got.Status)
	}
}

// TestFloorsAreOneRecord: one write stores the low-water marks of all pipelines.
func TestFloorsAreOneRecord(t *testing.T) {
	e := openEngine(t, Options{Dir: t.TempDir()})
	var pipelines []*sluice.Pipeline
	for _, name := range []string{"a", "b", "c"} {
		p := bind(t, e, name, sluice.EventPrefix+"webhook.record", 1)
		consume(t, e, p, answering(p, `1`))
		pipelines = append(pipelines, p)
	}
	send(t, e, "webhook.record", patience)
	before, err := e.Queue.LowWater.Extent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "all floors are written", func() bool {
		if err := e.Queue.LowWater.Write(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, p := range pipelines {
			if e.Queue.LowWater.Of(p.Binding.ID) == 0 {
				return false
			}
		}
		return true
	})
	after, err := e.Queue.LowWater.Extent(t.Context())
	if err != nil || after.Records-before.Records != 1 {
		t.Errorf("%d records more (%v), want 1", after.Records-before.Records, err)
	}
	if err := e.Queue.Unbind(t.Context(), pipelines[0].Name, pipelines[0].Binding); err != nil {
		t.Fatal(err)
	}
	if e.Queue.LowWater.Of(pipelines[0].Binding.ID) != 0 || e.Queue.LowWater.Of(pipelines[1].Binding.ID) == 0 {
		t.Error("dropping one floor does not leave the others")
	}
}
