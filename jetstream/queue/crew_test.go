package queue

import (
	"sync"
	"testing"
	"testing/synctest"

	"sluice"
)

// TestACrewGrowsAndShrinks: as much is done at the same time as there is to do;
// some of the goroutines stay for more, and all end at the end.
func TestACrewGrowsAndShrinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const pieces = sluice.MaxIdleRunners + 10
		var all sync.WaitGroup
		started, done := 0, make(chan struct{})
		c := &crew{
			start: func(f func()) { started++; all.Go(f) },
			done:  done,
			work:  make(chan func()),
		}
		end := make(chan struct{})
		for range pieces {
			c.do(func() { <-end })
		}
		synctest.Wait()
		if started != pieces {
			t.Errorf("%d of %d pieces were begun", started, pieces)
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
		if started != pieces {
			t.Errorf("%d more were asked while others waited", started-pieces)
		}
		close(done)
		all.Wait()
	})
}
