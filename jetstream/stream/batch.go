package stream

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/durable"
)

const (
	// AcceptTimeout bounds how long a call waits to become durable.
	AcceptTimeout = 3 * time.Second
	// ackTimeout bounds how long the engine may take to acknowledge a batch.
	ackTimeout = 2 * time.Second
	// maxWaiting bounds the entries that wait for the batch after the next.
	maxWaiting = 8192
	// maxBatchBytes keeps a batch well below what the engine buffers.
	maxBatchBytes = 16 << 20
	// maxFailures is how many batches in a row may fail before the engine is given up:
	// after one failed write it accepts nothing more until a restart.
	maxFailures = 3
)

// batchWriter is the group commit of the embedded engine. One loop takes all waiting
// entries, publishes them, asks for an acknowledgement of the last one only, syncs once,
// and wakes the callers. It is the stream's only writer, so the acknowledged sequence tells
// whether the whole batch was stored, and which sequence each entry has.
type batchWriter struct {
	host    *Host
	stream  jetstream.Stream
	blocks  *durable.Blocks // nil: we don't sync them
	waiting chan *entry
	inbox   string
	acks    chan *nats.Msg
	replies *nats.Subscription // fills acks
	batches uint64             // how many were published: part of the ack's subject
	last    uint64             // sequence of the newest message
	failing int                // batches that failed in a row
	observe func(messages int, took time.Duration)
	synced  atomic.Uint64 // sequence up to which all is on stable storage
	ended   chan struct{} // closed when the loop ends
	stopped atomic.Bool   // the same, cheaper to read

	mu      sync.Mutex
	busy    bool      // a batch is under way
	since   time.Time // when it began
	current []*entry  // its entries; nil once watch has given them up
	late    bool      // one was given up, and none was in time since
	trying  bool      // the disk is being tried
}

// An entry is one message on its way to the disk, or several that are stored together.
type entry struct {
	subject string
	data    []byte
	before  []*nats.Msg // those before it
	done    chan writeResult
}

// size returns how many bytes an entry has.
func (e *entry) size() (n int) {
	for _, msg := range e.before {
		n += len(msg.Data)
	}
	return n + len(e.data)
}

type writeResult struct {
	sequence uint64
	err      error
	late     bool // the loop may still hold the entry and its data
}

func newBatchWriter(h *Host, stream jetstream.Stream, blocks *durable.Blocks) (*batchWriter, error) {
	name := stream.CachedInfo().Config.Name
	w := &batchWriter{
		host:    h,
		stream:  stream,
		blocks:  cmp.Or(blocks, h.Blocks(name, false)),
		waiting: make(chan *entry, maxWaiting),
		inbox:   nats.NewInbox(),
		acks:    make(chan *nats.Msg, 8),
		last:    stream.CachedInfo().State.LastSeq,
		ended:   make(chan struct{}),
	}
	w.synced.Store(w.last)
	w.observe = func(int, time.Duration) {}
	if h.Observe != nil {
		w.observe = h.Observe(name)
	}
	var err error
	w.replies, err = w.host.Conn.ChanSubscribe(w.inbox+".*", w.acks)
	return w, err
}

var entries = sync.Pool{New: func() any { return &entry{done: make(chan writeResult, 1)} }}

// Write implements Writer.
func (w *batchWriter) Write(_ context.Context, subject string, _ nats.Header, data []byte) (uint64, error) {
	if err := Fits("The message", len(data)); err != nil {
		return 0, err
	}
	e := entries.Get().(*entry)
	e.subject, e.data = subject, data
	return w.enqueue(e)
}

// WriteTogether implements Writer. The messages are in one batch, right behind each other. If the
// engine fails between them, it takes nothing more until a start has removed them.
func (w *batchWriter) WriteTogether(_ context.Context, messages []*nats.Msg) (uint64, error) {
	last := messages[len(messages)-1]
	return w.enqueue(&entry{
		subject: last.Subject, data: last.Data, before: messages[:len(messages)-1], done: make(chan writeResult, 1),
	})
}

// enqueue waits until an entry is on stable storage, and returns the sequence of its last message.
func (w *batchWriter) enqueue(e *entry) (uint64, error) {
	select {
	case w.waiting <- e:
	default:
		return 0, sluice.Passing(sluice.CodeOverloaded, "Too many calls are waiting for the disk.")
	}
	if w.stopped.Load() {
		w.refuseWaiting() // the loop has ended and answers no more
	}
	out := <-e.done
	if !out.late && e.before == nil {
		e.data = nil
		entries.Put(e)
	}
	return out.sequence, out.err
}

// run serves entries until ctx ends. Then it refuses those that wait, and Write refuses
// later ones.
func (w *batchWriter) run(ctx context.Context) {
	defer w.stop()
	if w.blocks != nil {
		defer w.blocks.Close()
	}
	var batch []*entry
	for {
		select {
		case <-ctx.Done():
			return
		case first := <-w.waiting:
			batch = w.gather(append(batch[:0], first))
		}
		w.begin(batch)
		err := w.commit(ctx, batch)
		w.observe(len(batch), time.Since(w.since)) // only this loop changes it
		if w.end(err) {
			last := w.last
			for _, e := range slices.Backward(batch) {
				e.done <- writeResult{sequence: last, err: err}
				last -= uint64(1 + len(e.before))
			}
		}
		clear(batch)
	}
}

// stop ends the writer. Entries that are waiting by now are refused here, later ones by Write,
// since the writer has stopped.
func (w *batchWriter) stop() {
	w.stopped.Store(true)
	close(w.ended)
	w.mu.Lock()
	w.setLate(false) // it has no calls any more
	w.mu.Unlock()
	w.host.remove(w)
	if w.replies != nil {
		_ = w.replies.Unsubscribe() // fails if the connection has gone, which ends it too
	}
	w.refuseWaiting()
}

// refuseWaiting refuses all waiting entries, because the writer has stopped.
func (w *batchWriter) refuseWaiting() {
	w.answerWaiting(writeResult{err: sluice.Passing(sluice.CodeEngineUnavailable, "The engine has stopped.")})
}

// answerWaiting gives all waiting entries the same result.
func (w *batchWriter) answerWaiting(out writeResult) {
	for {
		select {
		case e := <-w.waiting:
			e.done <- out
		default:
			return
		}
	}
}

func (w *batchWriter) begin(batch []*entry) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy, w.since, w.current = true, time.Now(), batch
}

// end ends the batch under way, and reports whether its callers still wait. The disk is fast
// enough again with a good batch that was not given up.
func (w *batchWriter) end(err error) (unanswered bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	unanswered = w.current != nil
	w.busy, w.current = false, nil
	if unanswered && err == nil {
		w.setLate(false)
	}
	return unanswered
}

// gather adds the waiting entries. It first yields to callers that are about to add theirs:
// the larger the batch, the less each entry pays for the sync.
func (w *batchWriter) gather(batch []*entry) []*entry {
	runtime.Gosched()
	size := batch[0].size()
	for size < maxBatchBytes {
		select {
		case e := <-w.waiting:
			batch = append(batch, e)
			size += e.size()
		default:
			return batch
		}
	}
	return batch
}
