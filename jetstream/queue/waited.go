package queue

import (
	"cmp"
	"context"
	"time"

	"sluice"
	"sluice/limit"
)

// followWaiting delivers the events of the waiting room, each when it is due, until
// ctx ends.
func (c *consumption) followWaiting(ctx context.Context) {
	if c.queue.Waiting.ready(ctx) != nil { // one that is before others may be known last
		return
	}
	c.dropNewer(ctx)
	for c.queue.Waiting.await(ctx, c.binding) == nil {
		select {
		case c.picked <- struct{}{}:
		case <-ctx.Done():
			return
		}
		e := c.queue.Waiting.pick(c.binding)
		if e == nil { // another node has it by now
			<-c.picked
			continue
		}
		if !c.queue.host.SoleWriter && c.queue.work.has(c.keyOf(e.event)) { // its claim would hold for this one, too
			c.queue.Waiting.postpone(c.binding, e.key(), consumeRetry)
			<-c.picked
			continue
		}
		w := &waited{consumption: c, sequence: e.sequence, ordered: e.Order, behind: e.Behind, unclaim: func() {}}
		d := &delivery{
			from: w, waited: true, doubtful: true, key: e.key(), tries: e.tries(), supersedes: e.supersedes,
		}
		if !c.queue.work.begin(ctx, c.keyOf(e.event), d, nil) {
			<-c.picked
			return
		}
		c.start(ctx, d)
	}
}

// dropNewer removes what has waited since before the start of events that are not stored: they came while
// the backup was made that was restored.
func (c *consumption) dropNewer(ctx context.Context) {
	waiting, newer := c.queue.Waiting, []string{}
	waiting.mu.Lock()
	for e := range waiting.line(c.binding).all() {
		if e.here() && e.sequence <= waiting.before && e.event > c.queue.last {
			newer = append(newer, e.key())
		}
	}
	waiting.mu.Unlock()
	if len(newer) == 0 || !c.queue.host.SoleWriter {
		return
	}
	for _, key := range newer {
		waiting.drop(ctx, c.binding, key)
	}
	c.queue.host.Log.Info("Events that came while the backup was made do not wait: it has their states only.",
		"pipeline", c.pipeline, "events", len(newer))
}

// A waited delivery comes from the waiting room. Its event stays there until it has an
// outcome.
type waited struct {
	*consumption
	sequence uint64 // of the state that was due
	ordered  uint64 // see state.Order, likewise the next one
	behind   uint64
	hold     limit.Hold // of the event as it is stored
	unclaim  func()
}

// load implements source. It claims the event, so that no other node runs it.
func (w *waited) load(ctx context.Context, d *delivery) error {
	waiting := w.queue.Waiting
	if w.ordered != 0 && !w.queue.host.SoleWriter {
		if its, err := w.inTurn(ctx, d.key); err != nil || !its {
			waiting.postpone(w.binding, d.key, consumeRetry/2)
			return cmp.Or(err, errElsewhere)
		}
	}
	s, err := waiting.claim(ctx, w.binding, d.key, w.sequence)
	if err != nil {
		return err
	}
	if s == nil {
		waiting.leaveOthers(w.binding, d.supersedes)
		return errElsewhere
	}
	w.unclaim = w.keepClaim(ctx, d.key, *s)
	e, err := waiting.event(ctx, w.binding, d.key)
	if err != nil {
		return err
	}
	if e == nil {
		if !s.Answer { // released when it was done already
			w.queue.host.Log.Error("An event that waited is lost.", "pipeline", w.pipeline, "event", sequenceOf(d.key))
		}
		waiting.drop(ctx, w.binding, d.key)
		return errElsewhere
	}
	d.event, d.state, d.Count = *e, s, s.Count+1
	w.hold, err = takeMemory(ctx, w.queue.memory.stored, len(d.data))
	return err
}

// wait implements source.
func (w *waited) wait(ctx context.Context, d *delivery, a attempt) (due bool, err error) {
	w.unclaim()
	s := d.after(a)
	if d.state.Later && d.place != (sluice.Place{}) {
		if s.Behind, err = w.last(ctx, d.place); err != nil {
			return false, err
		}
	}
	err = w.queue.Waiting.set(context.Background(), w.binding, d.key, s)
	if err == nil && a.answered() {
		_, err = w.queue.Waiting.release(context.Background(), w.binding, d.key)
	}
	return false, err
}

// ack implements source: there is nothing to acknowledge. An event that is done was
// removed from the waiting room when its outcome was stored.
func (w *waited) ack() {}

// refuse implements source.
func (w *waited) refuse(d *delivery) {
	w.queue.Waiting.drop(context.Background(), w.binding, d.key)
}

// giveBack implements source.
func (w *waited) giveBack(d *delivery, after time.Duration) {
	w.queue.Waiting.postpone(w.binding, d.key, after)
}

// end implements source.
func (w *waited) end(d *delivery) {
	w.unclaim()
	w.hold.Release()
	w.leave(d)
	<-w.picked
}

// claim reserves a taken event for this node for a while, and returns its newest state.
// sequence is that of the state that was due. It returns nil if the event is no longer
// here, or another node has it.
func (w *Waiting) claim(ctx context.Context, binding, key string, sequence uint64) (*state, error) {
	s, err := w.find(ctx, binding, key)
	switch {
	case err != nil:
		return nil, err
	case s == nil || s.Held: // it is done, or keeps its place
		w.forget(binding, key)
		return nil, nil
	}
	claimed := s.sequence == sequence || s.Node == w.node // otherwise the index is about to learn of a newer state
	if claimed && !w.host.SoleWriter {
		if claimed, err = w.extendClaim(ctx, binding, key, s); err != nil {
			return nil, err
		}
	}
	if !claimed { // another node was first; when it is done, nothing is left of the event
		w.postpone(binding, key, consumeRetry)
		return nil, nil
	}
	return s, nil
}

// extendClaim extends the claim on an event by another lease, if its state is the newest
// one.
func (w *Waiting) extendClaim(ctx context.Context, binding, key string, s *state) (ok bool, err error) {
	claimed := *s
	claimed.Told, claimed.Node, claimed.Group = w.now().UTC(), w.node, 0
	claimed.Due = claimed.Told.Add(lease)
	ok, err = w.store(ctx, binding, key, &claimed, &s.sequence)
	s.sequence = claimed.sequence
	return ok, err
}

// lease is how long a claim on an event lasts. The node that runs the event renews it in time.
const lease = 30 * time.Second

// keepClaim extends the claim on an event until stop is called.
func (w *waited) keepClaim(ctx context.Context, key string, s state) (stop func()) {
	if w.queue.host.SoleWriter {
		return func() {}
	}
	ctx, stop = context.WithCancel(ctx)
	w.queue.host.Every(ctx, lease/3, func(time.Time) {
		if ok, err := w.queue.Waiting.extendClaim(ctx, w.binding, key, &s); (err != nil || !ok) && ctx.Err() == nil {
			w.queue.host.Log.Warn("Another node may run an event as well.", "pipeline", w.pipeline, "error", err)
		}
	})
	return stop
}
