package jetstream

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice"
	"sluice/jetstream/natstest"
)

// TestKeptOutputs: what a step has done once is known to the next attempt, also by another process,
// whether the event keeps its place or not, and after a run that was cut off. It goes with the event.
func TestKeptOutputs(t *testing.T) {
	for name, test := range map[string]struct {
		concurrency int
		ends        func(d sluice.Delivery) (sluice.Outcome, error) // the first attempt
		restart     bool
	}{
		"a failed attempt, in order": {concurrency: 1, ends: failsNow},
		"another process":            {concurrency: 16, ends: failsLater, restart: true},
		"a run that was cut off":     {concurrency: 16, ends: isCutOff, restart: true},
	} {
		t.Run(name, func(t *testing.T) {
			onEverySetup(t, func(t *testing.T, open func() *Engine, _ bool) {
				e := open()
				key := natstest.UniqueKey("kept")
				p := bind(t, e, strings.Split(key, ".")[1], sluice.EventPrefix+key, test.concurrency)
				began := make(chan string, 10)
				run := func(d sluice.Delivery) (sluice.Outcome, error) {
					known, err := d.Kept.Output(t.Context(), "step")
					if err != nil {
						return sluice.Outcome{}, err
					}
					began <- string(known)
					if known != nil {
						return ok(p.Name, string(known)), nil
					}
					if err := d.Kept.Keep(context.Background(), "step", []byte(`"done"`)); err != nil {
						t.Error(err)
					}
					return test.ends(d)
				}
				stop := consume(t, e, p, run)
				result := send(t, e, key, 0)
				if first := <-began; first != "" {
					t.Errorf("the first attempt finds %s", first)
				}
				if test.restart {
					stop()
					e.Close()
					e = open()
					consume(t, e, p, run)
				}
				if got, err := e.Results.Result(t.Context(), result.CorrelationID, patience); err != nil || string(got.Value) != `"done"` {
					t.Errorf("it comes to %s %s (%v)", got.Status, got.Value, err)
				}
				natstest.Eventually(t, "nothing to be kept", func() bool { return !waitsFor(t, e, p.Binding) })
			})
		})
	}
}

func failsNow(d sluice.Delivery) (sluice.Outcome, error)   { return again(d, time.Millisecond), nil }
func failsLater(d sluice.Delivery) (sluice.Outcome, error) { return again(d, time.Second), nil }
func isCutOff(sluice.Delivery) (sluice.Outcome, error)     { return sluice.Outcome{}, context.Canceled }

// TestKeptOutputsGo: nothing is kept of an event that is done at its first attempt, or erased.
func TestKeptOutputsGo(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Engine, _ bool) {
		e := open()
		key := natstest.UniqueKey("goes")
		p := bind(t, e, strings.Split(key, ".")[1], sluice.EventPrefix+key, 16)
		kept := make(chan bool, 2)
		consume(t, e, p, func(d sluice.Delivery) (sluice.Outcome, error) {
			check(t, d.Kept.Keep(t.Context(), "a", []byte("1")))
			check(t, d.Kept.Keep(t.Context(), "b", []byte("2")))
			kept <- waitsFor(t, e, p.Binding)
			if d.Message["contentType"] == "good" {
				return ok(p.Name, "1"), nil
			}
			return again(d, time.Hour), nil
		})
		good := keyed(key)
		good.ContentType = "good"
		if got, err := e.Events.Accept(t.Context(), good, patience); err != nil || got.Status != sluice.StatusOK || !<-kept {
			t.Fatalf("the good one comes to %s (%v)", got.Status, err)
		}
		natstest.Eventually(t, "nothing to be kept", func() bool { return !waitsFor(t, e, p.Binding) })
		bad := send(t, e, key, 0)
		<-kept
		natstest.Eventually(t, "the other one to wait", func() bool {
			retries, err := e.Results.Result(t.Context(), bad.CorrelationID, 0)
			return err == nil && retries.Status == sluice.StatusProcessing && e.Queue.Retry(sluice.RetryQuery{Pipeline: p.Name, DryRun: true}) == 1
		})
		envelope, err := e.Stored.find(t.Context(), bad.CorrelationID)
		check(t, err)
		check(t, e.Queue.Forget(t.Context(), envelope.Sequence, bad.TraceID, true))
		if waitsFor(t, e, p.Binding) {
			t.Error("something is kept of an event that was erased")
		}
	})
}

// TestKeptOutputsAreSealed: what a step has done is on disk only as long as the event is that opens it.
func TestKeptOutputsAreSealed(t *testing.T) {
	opts := Options{Dir: t.TempDir()}
	e := openEngine(t, opts)
	key := natstest.UniqueKey("sealed")
	p := bind(t, e, strings.Split(key, ".")[1], sluice.EventPrefix+key, 16)
	kept := make(chan error, 1)
	consume(t, e, p, func(d sluice.Delivery) (sluice.Outcome, error) {
		kept <- d.Kept.Keep(context.Background(), "step", []byte(`"what the step gave"`))
		return again(d, time.Hour), nil
	})
	event := keyed(key)
	event.Payload = []byte(`"what the caller sent"`)
	_, err := e.Events.Accept(t.Context(), event, 0)
	check(t, err)
	check(t, <-kept)
	e.Close()
	found := map[string]bool{}
	check(t, filepath.WalkDir(opts.Dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		for _, part := range []string{"what the step gave", "what the caller sent"} {
			found[part] = found[part] || bytes.Contains(text, []byte(part))
		}
		return err
	}))
	if found["what the step gave"] || !found["what the caller sent"] {
		t.Errorf("the folder has %v", found)
	}
}
