package queue

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sluice"
)

// TestLiveEventsGoFirst: of those that wait for a slot, live events come first,
// and one slot in eight goes to an event that waited.
func TestLiveEventsGoFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slots := newSlots(1, 0)
		if err := slots.take(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		order := make(chan bool, 100)
		for i := range 40 {
			go func() {
				_ = slots.take(t.Context(), i < 20)
				order <- i < 20
			}()
		}
		synctest.Wait()
		var got string
		for range 40 {
			slots.give(false)
			synctest.Wait()
			if <-order {
				got += "w"
				slots.waitedFree++ // give was told that it was a live one
			} else {
				got += "."
			}
		}
		if want := ".......w.......w......" + "wwwwwwwwwwwwwwwwww"; got != want {
			t.Errorf("the order is %s, want %s", got, want)
		}
	})
}

// TestHalfOfTheSlotsStayLive: however much hangs that came later, live events
// have their slots.
func TestHalfOfTheSlotsStayLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slots, ctx := newSlots(4, 0), t.Context()
		ending, end := context.WithCancel(ctx)
		for range 10 {
			go func() { _ = slots.take(ending, true) }()
		}
		synctest.Wait()
		for range 2 {
			if !slots.tryTake(false) && slots.take(ctx, false) != nil {
				t.Error("a live event has no slot")
			}
		}
		if slots.tryTake(false) {
			t.Error("there are more runs than slots")
		}
		end()
		synctest.Wait()
		if len(slots.waited) != 0 || slots.free != 0 {
			t.Errorf("%d wait and %d slots are free when all have gone", len(slots.waited), slots.free)
		}
	})
}

// TestPace: a pipeline begins as many runs as its rate says, with a burst of a
// second's worth.
func TestPace(t *testing.T) {
	for _, test := range []struct {
		perSecond float64
		runs      int
		want      time.Duration
	}{
		{0, 1000, 0},
		{10, 10, 0},
		{10, 110, 10 * time.Second},
		{1.0 / 60, 3, 2 * time.Minute},
		{1000, 3000, 2 * time.Second},
		{100_000, 1000, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			slots, started := newSlots(16, test.perSecond), time.Now()
			for i := range test.runs {
				if err := slots.take(t.Context(), i%2 == 1); err != nil {
					t.Fatal(err)
				}
				slots.give(i%2 == 1)
			}
			if took := time.Since(started); (took - test.want).Abs() > time.Millisecond {
				t.Errorf("%d runs at %g a second took %s, want %s", test.runs, test.perSecond, took, test.want)
			}
		})
	}
}

// TestACrewGrowsAndShrinks: as much is done at the same time as there is to do;
// some of the goroutines stay for more, and all end at the end.
func TestACrewGrowsAndShrinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const tasks = sluice.MaxIdleRunners + 10
		var all sync.WaitGroup
		started, done := 0, make(chan struct{})
		c := &crew{
			start: func(f func()) { started++; all.Go(f) },
			done:  done,
			work:  make(chan func()),
		}
		end := make(chan struct{})
		for range tasks {
			c.do(func() { <-end })
		}
		synctest.Wait()
		if started != tasks {
			t.Errorf("%d of %d tasks were begun", started, tasks)
		}
		close(end)
		synctest.Wait()
		if idle := c.idle.Load(); idle != sluice.MaxIdleRunners {
			t.Errorf("%d wait for more, want %d", idle, sluice.MaxIdleRunners)
		}
		var work sync.WaitGroup
		for range sluice.MaxIdleRunners {
			work.Add(1)
			c.do(work.Done)
		}
		work.Wait()
		if started != tasks {
			t.Errorf("%d more were asked while others waited", started-tasks)
		}
		close(done)
		all.Wait()
	})
}
