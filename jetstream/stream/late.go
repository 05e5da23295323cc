package stream

import (
	"slices"
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
	late := writeResult{err: sluice.Passing(sluice.CodeEngineUnavailable, "The event could not be made durable in time."), late: true}
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
		w.host.Log.Error("The disk takes longer than calls wait for; calls are refused until it is fast again.", "since", w.since)
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

// add notes a writer of the embedded engine.
func (h *Host) add(w *batchWriter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.writers = append(h.writers, w)
}

// remove forgets a writer that has ended.
func (h *Host) remove(w *batchWriter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.writers = slices.DeleteFunc(h.writers, func(other *batchWriter) bool { return other == w })
}

// Durable returns the sequence up to which all is on stable storage, of each stream of the
// embedded engine that has a writer.
func (h *Host) Durable() map[string]uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	durable := make(map[string]uint64, len(h.writers))
	for _, w := range h.writers {
		durable[w.stream.CachedInfo().Config.Name] = w.Durable()
	}
	return durable
}

// SyncAge returns how old the oldest batch is that is not on stable storage yet, 0 if there
// is none.
func (h *Host) SyncAge() (oldest time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.writers {
		w.mu.Lock()
		if w.busy {
			oldest = max(oldest, time.Since(w.since))
		}
		w.mu.Unlock()
	}
	return oldest
}
