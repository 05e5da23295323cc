package stream

import (
	"slices"
	"time"
)

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
