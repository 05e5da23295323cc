package live

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"sluice"
	"sluice/problem"
	"sluice/stretch"
	"sluice/value"
)

const (
	queueLength = 64                     // entries that wait for a reader
	patience    = 500 * time.Millisecond // before the first is dropped
	maxBatch    = 64 << 10               // bytes that are written together
)

// A reader gets the entries. Each follows the journal on its own, so that no reader waits for another.
type reader struct {
	queue   chan sluice.TailEntry
	stalled bool // the reader was too slow for the last entry
	dropped atomic.Int64
	failure error // why the queue was closed, if the reader did not go

	w         http.ResponseWriter
	control   *http.ResponseController
	unwritten []byte
}

func newReader(w http.ResponseWriter) *reader {
	return &reader{queue: make(chan sluice.TailEntry, queueLength), w: w, control: http.NewResponseController(w)}
}

// offer hands on an entry, or drops it if the reader is too slow. Past entries are never
// dropped: they are stored, so they can wait.
func (t *reader) offer(ctx context.Context, entry sluice.TailEntry) {
	select {
	case t.queue <- entry:
		t.stalled = false
		return
	default:
	}
	var late <-chan time.Time // never
	if !entry.Past {
		if t.stalled {
			t.dropped.Add(1)
			return
		}
		timer := time.NewTimer(stretch.Of(patience))
		defer timer.Stop()
		late = timer.C
	}
	select {
	case t.queue <- entry:
	case <-late:
		t.stalled = true
		t.dropped.Add(1)
	case <-ctx.Done():
	}
}

// begin writes the headers, and that the stream is open.
func (t *reader) begin() error {
	_ = t.control.SetReadDeadline(time.Time{}) // a stream takes longer than reading a request
	t.w.Header().Set("Content-Type", "text/event-stream")
	t.w.Header().Set("X-Accel-Buffering", "no") // a proxy must not wait for more
	return t.write(": following\n\n")
}

// add writes an entry. If others wait behind it, it is written together with them.
func (t *reader) add(entry sluice.TailEntry) error {
	t.unwritten = appendEvent(t.unwritten, entry.Position, entry.Type, entry.Data)
	if len(t.queue) > 0 && len(t.unwritten) < maxBatch {
		return nil
	}
	return t.write("")
}

// end says why there is no more.
func (t *reader) end(why error) error {
	document, err := value.Marshal(problem.Of(why))
	if err != nil {
		return err
	}
	return t.write(string(appendEvent(nil, "", "error", document)))
}

// write sends the entries that are not written yet, how many were dropped, and a text.
func (t *reader) write(text string) error {
	if n := t.dropped.Swap(0); n > 0 {
		t.unwritten = appendEvent(t.unwritten, "", "dropped", fmt.Appendf(nil, `{"count":%d}`, n))
	}
	t.unwritten = append(t.unwritten, text...)
	_, err := t.w.Write(t.unwritten)
	t.unwritten = t.unwritten[:0]
	if err != nil {
		return err
	}
	return t.control.Flush()
}

// appendEvent appends an event as the stream has it. Its data is one line.
func appendEvent(b []byte, id, event string, data []byte) []byte {
	if id != "" {
		b = append(append(append(b, "id: "...), id...), '\n')
	}
	b = append(append(append(b, "event: "...), event...), '\n')
	return append(append(append(b, "data: "...), data...), "\n\n"...)
}
