package queue

import (
	"sync"
	"time"
)

// inProgress are the live deliveries of all pipelines. The engine is told of them
// regularly, so that it does not deliver their events again.
type inProgress struct {
	mu         sync.Mutex
	deliveries map[liveKey]*live
}

// begin adds a delivery, until end, and reports whether its event was not in progress
// yet: the engine delivers one again that waits too long for memory.
func (w *inProgress) begin(key liveKey, l *live) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.deliveries[key] != nil {
		return false
	}
	l.began = time.Now()
	w.deliveries[key] = l
	return true
}

// end removes a delivery, unless a later one of the same event has taken its place.
func (w *inProgress) end(key liveKey, l *live) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.deliveries[key] == l {
		delete(w.deliveries, key)
	}
}

// includes reports whether a pipeline works on an event here, for whatever binding: it
// may listen to others by now.
func (w *inProgress) includes(pipeline string, sequence uint64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, l := range w.deliveries {
		if key.sequence == sequence && l.pipeline == pipeline {
			return true
		}
	}
	return false
}

// beat tells the engine which deliveries are in progress.
func (w *inProgress) beat(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range w.deliveries {
		if now.Sub(l.began) >= heartbeat {
			l.beat()
		}
	}
}

// A liveKey is an event and the binding that it is delivered to.
type liveKey struct {
	binding  string
	sequence uint64
}
