package stream

import (
	"time"

	"sluice"
	"sluice/durable"
)

// watch gives up a batch that takes too long, as on a hanging disk, and all entries behind it. One
// check of all is cheaper than a timer for each. It runs as long as the loop, which may end late
// on such a disk.
func (w *batchWriter) watch() {
	tick := time.NewTicker(AcceptTimeout / 12)
	defer tick.Stop()
	for {
		select {
		case <-w.ended:
			return
		case now := <-tick.C:
			patience := w.host.Patience(AcceptTimeout)
			w.giveUp(now.Add(-patience))
			if w.mayTry() {
				w.host.Start(func() { w.try(patience) })
			}
		}
	}
}

// giveUp refuses the batch under way if it began before a time, and all waiting entries.
func (w *batchWriter) giveUp(before time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.busy || w.since.After(before) {
		return
	}
	late := writeResult{
		err: sluice.Passing(sluice.CodeEngineUnavailable, "The event could not be made durable in time."), late: true,
	}
	for _, e := range w.current {
		e.done <- late
	}
	w.current = nil
	w.answerWaiting(late)
	w.setLate(true)
}

// setLate notes whether batches take longer than calls wait for. Then the host is not ready.
// w.mu is held.
func (w *batchWriter) setLate(late bool) {
	if late == w.late {
		return
	}
	w.late = late
	if late {
		w.host.late.Add(1)
		w.host.Log.Error("The disk takes longer than calls wait for; calls are refused until it is fast again.",
			"since", w.since)
		return
	}
	w.host.late.Add(-1)
	w.host.Log.Info("The disk is fast enough again.")
}

// mayTry reports whether to try the disk: calls are refused, so no batch of theirs shows that
// it is fast again.
func (w *batchWriter) mayTry() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.late || w.busy || w.trying {
		return false
	}
	w.trying = true
	return true
}

// try writes and syncs a file, which is as good as a batch if it is done in time.
func (w *batchWriter) try(patience time.Duration) {
	began := time.Now()
	err := durable.Probe(w.host.Dir)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trying = false
	if err == nil && time.Since(began) < patience && !w.busy {
		w.setLate(false)
	}
}
