package queue

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestLiveEventsGoFirst: of those that wait for a turn, live events come first,
// and what comes later gets every eighth turn.
func TestLiveEventsGoFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(1, 0)
		if err := turns.take(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		order := make(chan bool, 100)
		for i := range 40 {
			go func() {
				_ = turns.take(t.Context(), i < 20)
				order <- i < 20
			}()
		}
		synctest.Wait()
		var got string
		for range 40 {
			turns.give(false)
			synctest.Wait()
			if <-order {
				got += "l"
				turns.laterFree++ // give was told that it was a live one
			} else {
				got += "."
			}
		}
		if want := ".......l.......l......" + "llllllllllllllllll"; got != want {
			t.Errorf("the order is %s, want %s", got, want)
		}
	})
}

// TestHalfOfTheSlotsStayLive: however much hangs that came later, live events
// have their turns.
func TestHalfOfTheSlotsStayLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns, ctx := newTurns(4, 0), t.Context()
		ending, end := context.WithCancel(ctx)
		for range 10 {
			go func() { _ = turns.take(ending, true) }()
		}
		synctest.Wait()
		for range 2 {
			if !turns.tryTake() && turns.take(ctx, false) != nil {
				t.Error("a live event has no turn")
			}
		}
		if turns.tryTake() {
			t.Error("there are more turns than slots")
		}
		end()
		synctest.Wait()
		if len(turns.later) != 0 || turns.free != 0 {
			t.Errorf("%d wait and %d slots are free when all have gone", len(turns.later), turns.free)
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
			turns, started := newTurns(16, test.perSecond), time.Now()
			for i := range test.runs {
				if err := turns.take(t.Context(), i%2 == 1); err != nil {
					t.Fatal(err)
				}
				turns.give(i%2 == 1)
			}
			if took := time.Since(started); (took - test.want).Abs() > time.Millisecond {
				t.Errorf("%d runs at %g a second took %s, want %s", test.runs, test.perSecond, took, test.want)
			}
		})
	}
}
