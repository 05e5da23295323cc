package metrics_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"sluice"
	"sluice/jetstream"
	"sluice/jetstream/natstest"
	"sluice/metrics"
)

// TestFailuresOfLongAgo: what counts no more is not kept, and what goes on is.
func TestFailuresOfLongAgo(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	engine, err := jetstream.Open(t.Context(), jetstream.Options{Dir: t.TempDir(), Box: natstest.Box, EventMaxAge: time.Hour, ResultTTL: time.Hour, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	states := engine.PipelineStates
	began := time.Now().Add(-25 * time.Hour).UTC()
	for _, name := range []string{"gone", "lasting"} {
		if _, err := states.Change(t.Context(), name, func(*sluice.PipelineState, map[string]*sluice.PipelineState) (*sluice.PipelineState, error) {
			return &sluice.PipelineState{Pipeline: name, Failing: true, Since: began, Time: began}, nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	f := metrics.NewFailing(states, log)
	f.Run(sluice.RunReport{Pipeline: "lasting", Status: sluice.StatusError, Delivery: 1, Started: time.Now()})
	over, stop := context.WithCancel(t.Context())
	stop()
	f.Keep(over)
	if all := states.All(); len(all) != 1 || all[0].Pipeline != "lasting" || !all[0].Since.Equal(began) || time.Since(all[0].Time) > time.Hour {
		t.Errorf("what is known of failures is %+v", all)
	}
}

// TestFailingEnds: a pipeline fails while its latest run does, and no longer. F is
// a failed run, g a good one.
func TestFailingEnds(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	engine, err := jetstream.Open(t.Context(), jetstream.Options{Dir: t.TempDir(), Box: natstest.Box, EventMaxAge: time.Hour, ResultTTL: time.Hour, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	report := func(f *metrics.Failing, pipeline string, runs string) {
		for _, run := range runs {
			status := sluice.StatusOK
			if run == 'F' {
				status = sluice.StatusError
			}
			f.Run(sluice.RunReport{Pipeline: pipeline, Status: status, Delivery: 1, Started: time.Now()})
		}
	}
	f := metrics.NewFailing(engine.PipelineStates, log)
	for runs, want := range map[string]bool{
		"": false, "F": true, "FFF": true, "Fg": false, "FFFFFFg": false, "gF": true, "ggggF": true, "FgFg": false,
	} {
		report(f, "p"+runs, runs)
		if got := f.Since(&sluice.Pipeline{Name: "p" + runs}) != nil; got != want {
			t.Errorf("after %q it fails: %t", runs, got)
		}
	}
	f.Run(sluice.RunReport{Pipeline: "p", Status: sluice.StatusError, Started: time.Now()}) // started by a user
	if f.Since(&sluice.Pipeline{Name: "p"}) != nil {
		t.Error("a run that a user has started counts")
	}
	if f.Since(&sluice.Pipeline{Name: "pFFF", Updated: time.Now().Add(time.Second)}) != nil {
		t.Error("a pipeline that was stored anew still fails")
	}

	ctx, stop := context.WithCancel(t.Context())
	var keeping sync.WaitGroup
	keeping.Go(func() { f.Keep(ctx) })
	stop()
	keeping.Wait()
	another := metrics.NewFailing(engine.PipelineStates, log)
	if another.Since(&sluice.Pipeline{Name: "pFFF"}) == nil || another.Since(&sluice.Pipeline{Name: "pFg"}) != nil {
		t.Error("another process does not know what fails")
	}
	report(another, "pFFF", "g")
	if another.Since(&sluice.Pipeline{Name: "pFFF"}) != nil {
		t.Error("a good run of another process does not count")
	}
}
