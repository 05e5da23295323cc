package queue

import (
	"context"
	"time"
)

// lookAgain bounds each wait for a time that was stored. Timers count the seconds
// that pass, whatever becomes of the clock: a wait that was worked out while the
// clock was a day behind would last a day, although the clock is right soon after. So
// late is no harm to what waits that long, and a pipeline has one timer for all of its
// events, so that looking costs nothing.
const lookAgain = 5 * time.Second

// left returns how long it is until a time by the clock on the wall. That one counts,
// not the seconds since the start: it is what is stored, what people are shown, and
// all that other nodes and the next process have.
func (w *Waiting) left(due time.Time) time.Duration { return due.Round(0).Sub(w.now()) }

// until returns when a time has come, or with the error of ctx. It has come when the
// clock says so, or when so many seconds have passed as were left at the beginning: if
// the clock is set back meanwhile, an event that keeps others waiting is not to wait
// for longer than it was told to.
func (w *Waiting) until(ctx context.Context, due time.Time) error {
	passed := time.NewTimer(due.Sub(w.now()))
	defer passed.Stop()
	look := time.NewTicker(lookAgain)
	defer look.Stop()
	for {
		select {
		case <-passed.C:
			return nil
		case <-look.C:
			if w.left(due) <= 0 {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
