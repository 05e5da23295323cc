package run_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sluice"
	"sluice/limit"
	"sluice/pipeline/run"
)

// TestComputing: a run that computes for long waits for a place, and holds none while it waits for
// something else. One that computes little does not wait.
func TestComputing(t *testing.T) {
	const some = `count(1..700, # * # % 7 == 3)`
	for _, test := range []struct {
		name, source string
		waits        bool
	}{
		{"a little", "pipeline: [set: {value: '#{" + some + "}'}]", false},
		{"a long expression", "pipeline: [set: {value: '#{count(1..700, let x = #; count(1..70, # * x % 7 == 3) > 0)}'}]", true},
		{"many short ones", "pipeline: [foreach: {in: '#{1..100}', do: [set: {value: '#{" + some + "}'}]}]", true},
		{"many within a value", "pipeline: [set: {value: [" + strings.TrimSuffix(strings.Repeat("'#{"+some+"}',", 10), ",") + "]}]", true},
		{"conditions", "pipeline: [foreach: {in: '#{1..100}', do: [pass: {if: '" + some + " > 0'}]}]", true},
		{"a step", "vars: {a: '#{repeat(\"x\", 200000)}'}\npipeline: [convert.upper: {input: '#{vars.a}'}]", true},
		{"a function", "vars: {a: '#{repeat(\"x\", 200000)}'}\npipeline: [set: {value: '#{convert.upper(vars.a)}'}]", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				computing := limit.NewComputing()
				rest := fill(t, computing)
				f, ended := newFixture(run.Limits{Computing: computing}), make(chan error, 1)
				go func() {
					_, err := f.run(t, test.source)
					ended <- err
				}()
				synctest.Wait()
				if waits := len(ended) == 0; waits != test.waits {
					t.Errorf("it waits: %t", waits)
				}
				rest()
				if err := <-ended; err != nil {
					t.Error(err)
				}
				fill(t, computing)() // it has kept none
			})
		})
	}
}

// TestComputingEnds: a run that waits for a place ends in time.
func TestComputingEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		computing := limit.NewComputing()
		defer fill(t, computing)()
		_, err := newFixture(run.Limits{Computing: computing}).run(t,
			"timeout: 1m\npipeline: [set: {value: '#{count(1..700, let x = #; count(1..70, # * x % 7 == 3) > 0)}', onError: ignore}]")
		if !sluice.CodeRunTooLong.Is(err) {
			t.Errorf("the error is %v", err)
		}
	})
}

// fill takes all places, until rest is called.
func fill(t *testing.T, computing *limit.Computing) (rest func()) {
	t.Helper()
	var all []*limit.Work
	for {
		w := computing.Work(t.Context(), "full", "full")
		placed := make(chan error, 1)
		go func() { placed <- w.Spend(w.Left() + 1) }()
		select {
		case <-placed:
			all = append(all, w)
			continue
		case <-time.After(time.Second):
		}
		return func() {
			for _, w := range all {
				w.Rest()
			}
			if len(all) > 0 {
				<-placed
				w.Rest()
			}
		}
	}
}
