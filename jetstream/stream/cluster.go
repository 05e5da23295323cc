package stream

import (
	"context"
	"crypto/rand"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/stretch"
)

const (
	// clusterTimeout bounds how long it takes to store a message on an external
	// engine. Senders wait 3 to 5 seconds in all.
	clusterTimeout = 2400 * time.Millisecond
	// ackWithin is how long one attempt may take.
	ackWithin = clusterTimeout / 2
	// attemptPause is the pause before another attempt.
	attemptPause = 100 * time.Millisecond
	// ackGrace is how much longer a caller waits for the end of an attempt.
	ackGrace = 300 * time.Millisecond

	// inFlight is how many batches of a stream are on their way at the same time. The
	// engine takes 50 per stream, from all nodes.
	inFlight = 2
	// maxTogether and togetherBytes bound a batch.
	maxTogether   = 256
	togetherBytes = 1 << 20
)

// For how long an external engine remembers the ids of messages.
const (
	// retryWindow is enough for all attempts to store a message.
	retryWindow = 4 * clusterTimeout
	// WithdrawalWindow is for how long a message can be withdrawn that a server had
	// read before it hung.
	WithdrawalWindow = 2 * time.Minute
)

// clusterWriter stores messages on an external engine. It stores all waiting messages as one
// batch, with one id and one acknowledgement: all of them or none, one right behind the
// other. Few batches are on their way at once, so batches grow with the load, and under too
// much load callers wait here: a message that was not sent is certainly not stored.
type clusterWriter struct {
	host     *Host
	stream   string
	together bool // the engine takes batches
	way      *shortcut
	waiting  chan *publication
	slots    chan struct{} // of the batches on their way

	withdrawn string      // subject of withdrawals
	doubted   chan string // ids of batches to withdraw
}

// A publication is a message to store.
type publication struct {
	subject string
	header  nats.Header
	data    []byte
	until   time.Time
	sent    atomic.Pointer[DoubtError] // nil: not yet
	done    chan writeResult
}

func newClusterWriter(running context.Context, h *Host, config jetstream.StreamConfig, o WriterOptions) *clusterWriter {
	w := &clusterWriter{
		host: h, stream: config.Name,
		// An engine that is not a cluster first writes each batch to a file of its own.
		together:  config.AllowAtomicPublish && config.Replicas > 1,
		way:       &shortcut{host: h, stream: config.Name, ways: newWays()},
		waiting:   make(chan *publication, maxWaiting),
		slots:     make(chan struct{}, inFlight),
		withdrawn: o.Withdrawn,
		doubted:   make(chan string, maxWaiting),
	}
	h.Start(func() { w.run(running) })
	if o.Busy && config.Replicas > 1 {
		h.Start(func() { w.way.follow(running) })
	}
	if o.Withdrawn != "" {
		h.Start(func() { w.withdraw(running) })
	}
	return w
}

// Write implements Writer.
func (w *clusterWriter) Write(_ context.Context, subject string, header nats.Header, data []byte) (uint64, error) {
	if err := Fits("The message", len(data)); err != nil {
		return 0, err
	}
	timer := time.NewTimer(stretch.Of(clusterTimeout))
	defer timer.Stop()
	p := &publication{
		subject: subject, header: header, data: data, until: time.Now().Add(stretch.Of(clusterTimeout)),
		done: make(chan writeResult, 1),
	}
	select {
	case w.waiting <- p:
	default:
		return 0, NotTaken("the event", errFull)
	}
	select {
	case out := <-p.done:
		return out.sequence, out.err
	case <-timer.C:
	}
	if p.sent.CompareAndSwap(nil, abandoned) {
		return 0, NotTaken("the event", errUnsent)
	}
	timer.Reset(stretch.Of(ackGrace))
	select {
	case out := <-p.done:
		return out.sequence, out.err
	case <-timer.C: // the client library may block
		if sent := p.sent.Load(); sent != nil {
			return 0, NotTaken("the event", &DoubtError{sent.ID, sent.Place, nats.ErrTimeout})
		}
		return 0, NotTaken("the event", errUnsent) // too late to send it without its batch
	}
}

// run sends what waits until ctx ends.
func (w *clusterWriter) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case first := <-w.waiting:
			if !w.together {
				w.host.Start(func() { w.store(ctx, []*publication{first}) })
				continue
			}
			select {
			case w.slots <- struct{}{}:
			case <-ctx.Done():
				return
			}
			batch := w.gather(first)
			w.host.Start(func() {
				defer func() { <-w.slots }()
				w.store(ctx, batch)
			})
		}
	}
}

// gather adds the waiting messages, after yielding once to callers about to enqueue.
func (w *clusterWriter) gather(first *publication) []*publication {
	runtime.Gosched()
	batch, size := []*publication{first}, len(first.data)
	for len(batch) < maxTogether && size < togetherBytes {
		select {
		case p := <-w.waiting:
			batch = append(batch, p)
			size += len(p.data)
		default:
			return batch
		}
	}
	return batch
}

// store stores messages together. It repeats an attempt that was not answered with the same
// id, so that the engine stores the messages once.
func (w *clusterWriter) store(ctx context.Context, batch []*publication) {
	id := rand.Text()
	if batch = claim(batch, id); len(batch) == 0 {
		return
	}
	doubtful := false
	for {
		last, answered, err := w.attempt(ctx, id, batch)
		w.report(err)
		if err == nil {
			for i, p := range batch {
				p.done <- writeResult{sequence: last - uint64(len(batch)-1-i)}
			}
			return
		}
		doubtful = doubtful || !answered
		limited := LimitOf(err) != ""
		if !doubtful && !limited && len(batch) > 1 && blamesOne(err) {
			var all sync.WaitGroup
			for _, p := range batch {
				p.sent.Store(nil)
				all.Go(func() { w.store(ctx, []*publication{p}) })
			}
			all.Wait()
			return
		}
		if limited || time.Until(batch[0].until) < attemptPause || ctx.Err() != nil {
			w.refuse(id, batch, doubtful, err)
			return
		}
		time.Sleep(attemptPause)
	}
}

// claim leaves out the messages whose callers have left, and gives the others their places
// in the batch.
func claim(batch []*publication, id string) []*publication {
	there := batch[:0]
	for _, p := range batch {
		if p.sent.CompareAndSwap(nil, &DoubtError{ID: id, Place: uint64(len(there))}) {
			there = append(there, p)
		}
	}
	return there
}

// refuse tells callers that their messages were not taken, or may not have been.
func (w *clusterWriter) refuse(id string, batch []*publication, doubtful bool, cause error) {
	if doubtful && w.withdrawn != "" {
		select {
		case w.doubted <- id:
		default: // with so many, the engine can't have read them all
		}
	}
	for i, p := range batch {
		err := cause
		if doubtful {
			err = &DoubtError{id, uint64(i), cause}
		}
		p.done <- writeResult{err: NotTaken("the event", err)}
	}
}

// report lets the host know whether the engine takes events.
func (w *clusterWriter) report(err error) {
	switch {
	case w.withdrawn == "": // not the stream of events
	case err == nil:
		w.host.Wrote()
	default:
		w.host.Doubt()
	}
}

// Durable implements Writer: what can be read from an external engine is durable.
func (w *clusterWriter) Durable() uint64 { return math.MaxUint64 }
