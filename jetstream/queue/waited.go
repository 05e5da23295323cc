package queue

import (
	"context"
	"time"

	"sluice/limit"
)

// followWaiting delivers the events of the waiting room, each when it is due, until
// ctx ends.
func (c *consumption) followWaiting(ctx context.Context) {
	for c.queue.waiting.await(ctx, c.binding) == nil {
		select {
		case c.picked <- struct{}{}:
		case <-ctx.Done():
			return
		}
		e := c.queue.waiting.pick(c.binding)
		if e == nil { // another node has it by now
			<-c.picked
			continue
		}
		w := &waited{consumption: c, sequence: e.sequence, unclaim: func() {}}
		c.start(ctx, &delivery{from: w, waited: true, doubtful: true, key: e.key})
	}
}

// A waited delivery comes from the waiting room. Its event stays there until it has an
// outcome.
type waited struct {
	*consumption
	sequence uint64     // of the state that was due
	hold     limit.Hold // of the event as it is stored
	unclaim  func()
}

// load implements source. It claims the event, so that no other node runs it.
func (w *waited) load(ctx context.Context, d *delivery) error {
	waiting := w.queue.waiting
	s, err := waiting.claim(ctx, w.binding, d.key, w.sequence)
	if err != nil {
		return err
	}
	if s == nil {
		return errElsewhere
	}
	w.unclaim = w.keepClaim(ctx, d.key, *s)
	e, err := waiting.event(ctx, w.binding, d.key)
	if err != nil {
		return err
	}
	if e == nil {
		w.queue.host.Log.Error("An event that waited is lost.", "pipeline", w.pipeline, "event", sequenceOf(d.key))
		waiting.drop(ctx, w.binding, d.key)
		return errElsewhere
	}
	d.event, d.state, d.Count = *e, s, s.Count+1
	w.hold, err = takeMemory(ctx, w.queue.memory.stored, len(d.data))
	return err
}

// wait implements source.
func (w *waited) wait(_ context.Context, d *delivery, a attempt) (due bool, err error) {
	return false, w.queue.waiting.set(context.Background(), w.binding, d.key, d.after(a))
}

// ack implements source: there is nothing to acknowledge. An event that is done was
// removed from the waiting room when its outcome was stored.
func (w *waited) ack() {}

// refuse implements source.
func (w *waited) refuse(d *delivery) {
	w.queue.waiting.drop(context.Background(), w.binding, d.key)
}

// giveBack implements source.
func (w *waited) giveBack(d *delivery, after time.Duration) {
	w.queue.waiting.postpone(w.binding, d.key, after)
}

// end implements source.
func (w *waited) end(*delivery) {
	w.unclaim()
	w.hold.Release()
	<-w.picked
}
