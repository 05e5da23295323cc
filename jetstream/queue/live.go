package queue

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/limit"
)

// A live delivery comes from the pipeline's consumer. Its event keeps its place there
// until it is acknowledged.
type live struct {
	*consumption
	msg   jetstream.Msg
	again jetstream.Msg // the same event, if the engine has handed it out once more since; it heeds this one
	own   *nats.Conn    // the node's own connection, if the event came over another one
	hold  limit.Hold    // of the event as it is stored
	began time.Time
}

// begin returns the delivery as soon as there is memory for the stored event. Until then
// further events stay in the stream. It returns nil if the event is in progress here.
func (l *live) begin(ctx context.Context, meta *jetstream.MsgMetadata) *delivery {
	d := &delivery{
		from: l, event: event{
			data: l.queue.host.Open(l.msg.Subject(), l.msg.Data()), origin: origin{
				Subject: l.msg.Subject(), Waits: l.msg.Headers().Get(waitsHeader),
			},
		},
	}
	d.sequence, d.Count, d.Time = meta.Sequence.Stream, int(meta.NumDelivered), meta.Timestamp
	if !l.queue.work.begin(ctx, l.keyOf(d.sequence), d, l) {
		return nil
	}
	// fails if the pipeline stops, which gives the event back
	l.hold, _ = takeMemory(ctx, l.queue.memory.stored, len(d.data))
	return d
}

// load implements source: the event came with the delivery.
func (l *live) load(context.Context, *delivery) error { return nil }

// wait implements source. Where the order counts, or the waiting room is full, the
// event keeps its place. If its state can't be stored then, only this process knows it.
func (l *live) wait(ctx context.Context, d *delivery, a attempt) (due bool, err error) {
	waiting, s := l.queue.Waiting, d.after(a)
	if !l.keepsPlace(d.event) {
		err = waiting.put(context.Background(), l.binding, d.key, d.event, s)
		if err == nil && a.answered() {
			_, err = waiting.release(context.Background(), l.binding, d.key)
		}
		return false, err
	}
	if a.before && d.state != nil {
		s = *d.state
	}
	if !a.before {
		s.Held = true
		if err := waiting.set(ctx, l.binding, d.key, s); err != nil {
			l.queue.host.Log.Warn("How often an event was tried could not be stored.", "pipeline", l.pipeline,
				"traceId", d.TraceID, "error", err)
		}
		d.state = &s
	}
	d.Message = nil // it is decoded again
	if a.answered() {
		return true, nil
	}
	d.tries, err = waiting.hold(ctx, l.binding, d.key, s, func() bool { return l.queue.work.isWithdrawn(d) })
	return err == nil, err
}

// ack implements source.
func (l *live) ack() {
	_ = l.msg.Ack() // if this fails, it is delivered again, and its outcome is found
}

// refuse implements source.
func (l *live) refuse(*delivery) {
	_ = l.msg.Term() // if this fails, it comes again
}

// giveBack implements source. The event is no longer in progress before it can come again:
// otherwise its next delivery would be left to this one.
func (l *live) giveBack(d *delivery, after time.Duration) {
	l.queue.work.end(l.keyOf(d.sequence), l)
	_ = cmp.Or(l.again, l.msg).NakWithDelay(after) // if this fails, it is delivered again after ackWait
}

// end implements source.
func (l *live) end(d *delivery) {
	l.hold.Release()
	l.queue.work.end(l.keyOf(d.sequence), l)
	l.leave(d)
}

// beat tells the engine that the event is in progress, over the node's own connection:
// only that one is watched and made again.
func (l *live) beat() {
	if l.own != nil {
		_ = l.own.Publish(l.msg.Reply(), []byte("+WPI"))
		return
	}
	_ = l.msg.InProgress() // if this fails, the event may be delivered again
}

// inProgress are the deliveries of all pipelines. The engine is told of the live ones
// regularly, so that it does not deliver their events again.
type inProgress struct {
	mu         sync.Mutex
	deliveries map[liveKey]*live
	waited     map[liveKey]*delivery // from the waiting room
	all        map[*delivery]liveKey
	ended      map[string]bool // bindings: nothing more begins for them
}

func newInProgress() *inProgress {
	return &inProgress{
		deliveries: make(map[liveKey]*live), waited: make(map[liveKey]*delivery),
		all: make(map[*delivery]liveKey), ended: make(map[string]bool),
	}
}

// begin adds a delivery, until leave, and reports whether it may go on: not for a binding that has ended, nor
// a live one whose event is in progress already. The engine delivers one again that waits too long for memory.
func (w *inProgress) begin(ctx context.Context, key liveKey, d *delivery, l *live) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if other := w.deliveries[key]; other != nil && l != nil {
		if ctx.Err() == nil { // otherwise it was handed out before that one
			other.again = l.msg
		}
		return false
	}
	if w.ended[key.binding] {
		return false
	}
	if w.all[d] = key; l == nil {
		w.waited[key] = d
		return true
	}
	l.began = time.Now()
	w.deliveries[key] = l
	return true
}

// has reports whether an event from the waiting room is in progress.
func (w *inProgress) has(key liveKey) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.waited[key] != nil
}

// end removes a delivery, unless a later one of the same event has taken its place.
func (w *inProgress) end(key liveKey, l *live) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.deliveries[key] == l {
		delete(w.deliveries, key)
	}
}

// Works reports whether a pipeline works on an event on this node, for whatever binding: it may listen to
// others by now.
func (q *Queue) Works(pipeline string, sequence uint64) bool {
	q.work.mu.Lock()
	defer q.work.mu.Unlock()
	for _, key := range q.work.all {
		if key.sequence == sequence && key.pipeline == pipeline {
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
	binding, pipeline string
	sequence          uint64
}

func (c *consumption) keyOf(sequence uint64) liveKey { return liveKey{c.binding, c.pipeline, sequence} }
