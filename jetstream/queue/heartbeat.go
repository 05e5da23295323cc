package queue

import (
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// heartbeat is how often the engine is told that an event is in progress.
const heartbeat = time.Second

// inProgress tells the engine which events are in progress, so that it does not
// deliver them again.
type inProgress struct {
	mu   sync.Mutex
	msgs map[jetstream.Msg]time.Time // since when
}

// begin says that an event is worked on, until end is called.
func (w *inProgress) begin(msg jetstream.Msg) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.msgs[msg] = time.Now()
}

func (w *inProgress) end(msg jetstream.Msg) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.msgs, msg)
}

// beat tells the engine once more.
func (w *inProgress) beat(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for msg, since := range w.msgs {
		if now.Sub(since) >= heartbeat {
			_ = msg.InProgress() // otherwise the event may be delivered again
		}
	}
}
