package queue

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/jetstream/correlation"
)

// holds reports whether an event that is to be tried again waits with its place, so
// that the order of events is kept, or because too many wait already.
func (c *consumption) holds() bool { return c.ordered || c.queue.waiting.full(c.binding) }

// hold lets an event wait with its place until the next attempt is due. How far it
// has come is on stable storage first; where that fails, only this process knows.
func (c *consumption) hold(ctx context.Context, msg *piece, done *finished) error {
	if !done.before {
		s := done.state()
		s.Held = true
		if err := c.queue.waiting.set(ctx, c.binding, c.key(done), s); err != nil {
			c.queue.host.Log.Warn("How often an event was tried could not be stored.", "pipeline", c.pipeline, "traceId", done.TraceID, "error", err)
		}
		msg.state = &s
	}
	return c.queue.waiting.until(ctx, done.outcome.Next)
}

// state is how far an event has come after an attempt that failed.
func (f *finished) state() state {
	first := f.First
	if first.IsZero() {
		first = f.began
	}
	return state{Attempts: f.outcome.Attempts, Count: f.Count, First: first, Due: f.outcome.Next.UTC()}
}

// postpone lets an event wait for its next attempt without its place.
func (c *consumption) postpone(msg piece, done *finished) error {
	return c.queue.waiting.put(context.Background(), c.binding, c.key(done), msg.stored(), done.state())
}

// key returns the key by which an event waits.
func (c *consumption) key(f *finished) string { return c.queue.waiting.key(f.sequence, f.TraceID) }

// givesWay lets an event wait for a turn that no live event needs, if it is a
// replay, and tells whether it does. One that waits already, or is done, is left
// to its turn.
func (c *consumption) givesWay(ctx context.Context, msg *piece) (bool, error) {
	const head = 8 << 10 // the field stands before the payload
	data := msg.Data()
	if !bytes.Contains(data[:min(len(data), head)], []byte(`"replayOf":"`)) || msg.meta == nil || msg.sequence() <= msg.before.done || c.holds() {
		return false, nil
	}
	e, err := correlation.ReadEnvelope(&jetstream.RawStreamMsg{Sequence: msg.sequence(), Subject: msg.Subject(), Data: data, Time: msg.meta.Timestamp})
	if err != nil || e.ReplayOf == "" {
		return false, nil //nolint:nilerr // what is wrong with it is found when it has its turn
	}
	waiting := c.queue.waiting
	key := waiting.key(e.Sequence, e.TraceID)
	if c.mayHaveRun(msg) {
		if known, err := waiting.find(ctx, c.binding, key); known != nil || err != nil {
			return false, nil //nolint:nilerr // it is asked again when the event has its turn
		}
	}
	return true, waiting.put(context.Background(), c.binding, key, msg.stored(), state{Due: waiting.now().UTC()})
}

// runLater runs the pipeline for events that waited, each when it is due, until ctx
// ends.
func (c *consumption) runLater(ctx context.Context) {
	for {
		if c.queue.waiting.await(ctx, c.binding) != nil {
			return
		}
		select {
		case c.laterPlaces <- struct{}{}:
		case <-ctx.Done():
			return
		}
		if c.turns.take(ctx, true) != nil {
			return
		}
		w := c.queue.waiting.take(c.binding)
		if w == nil { // another node has it by now
			c.turns.give(true)
			<-c.laterPlaces
			continue
		}
		c.deliveries.Add(1)
		c.queue.crew.do(func() {
			defer c.deliveries.Done()
			c.later(ctx, w)
			<-c.laterPlaces
		})
	}
}

// later runs the pipeline for an event that waited and has its turn. An event
// without an outcome, or a new state, waits on.
func (c *consumption) later(ctx context.Context, w *waiter) {
	leave := sync.OnceFunc(func() { c.turns.give(true) })
	defer leave()
	err := c.deliverLater(ctx, w, leave)
	if err == nil {
		return
	}
	if ctx.Err() == nil {
		c.queue.host.Log.Warn("An event will be delivered to its pipeline again.", "pipeline", c.pipeline, "error", err)
	}
	c.queue.waiting.again(c.binding, w.key, consumeRetry)
}

// deliverLater makes an attempt for an event that waited, unless another node
// does, and stores what came of it. The turn ends before that.
func (c *consumption) deliverLater(ctx context.Context, w *waiter, leave func()) error {
	waiting := c.queue.waiting
	newest, err := waiting.find(ctx, c.binding, w.key)
	switch {
	case err != nil:
		return err
	case newest == nil || newest.Held: // it is done, or waits with its place
		waiting.forget(c.binding, w.key)
		return nil
	case newest.sequence != w.sequence && newest.Node != waiting.node:
		waiting.again(c.binding, w.key, consumeRetry) // the index is about to learn of that
		return nil
	}
	claimed, err := waiting.claim(ctx, c.binding, w.key, newest)
	if err != nil {
		return err
	}
	if !claimed { // another node was first; when it is done, nothing is left of the event
		waiting.again(c.binding, w.key, consumeRetry)
		return nil
	}
	defer c.keepClaim(ctx, w.key, *newest)()
	e, err := waiting.event(ctx, c.binding, w.key)
	if err != nil {
		return err
	}
	if e == nil {
		c.queue.host.Log.Error("An event that waited is lost.", "pipeline", c.pipeline, "event", sequenceOf(w.key))
		waiting.drop(ctx, c.binding, w.key)
		return nil
	}
	e.count = newest.Count + 1
	done, err := c.attemptLater(ctx, *e, newest)
	leave()
	if done != nil && done.stored != nil {
		defer done.stored()
	}
	switch {
	case err != nil:
		return err
	case done.retried():
		return waiting.set(context.Background(), c.binding, w.key, done.state())
	}
	if err := c.queue.settle(done, e.data); err != nil {
		return err
	}
	waiting.drop(context.Background(), c.binding, w.key)
	return nil
}

// attemptLater runs the pipeline for an event that waited, unless that was done
// before.
func (c *consumption) attemptLater(ctx context.Context, e storedEvent, s *state) (*finished, error) {
	size, err := c.queue.memory.stored.acquire(ctx, len(e.data))
	if err != nil {
		return nil, err
	}
	defer c.queue.memory.stored.release(size)
	release, err := c.decoding(ctx, e.data)
	if err != nil {
		return nil, err
	}
	defer release()
	d, err := c.queue.delivery(e)
	if err != nil {
		return nil, err
	}
	outcome, err := c.queue.outcomes.Get(ctx, e.sequence, d.TraceID, c.pipeline)
	switch {
	case err != nil:
		return nil, err
	case outcome != nil: // it was done, and came back with a power cut
		return &finished{Delivery: d, sequence: e.sequence, outcome: *outcome, before: true}, nil
	}
	return c.runFrom(d, e, s)
}

// keepClaim renews the claim of this node on an event until the function that it
// returns is called.
func (c *consumption) keepClaim(ctx context.Context, key string, s state) (stop func()) {
	if c.queue.host.SoleWriter {
		return func() {}
	}
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(lease / 3)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				if ok, err := c.queue.waiting.claim(ctx, c.binding, key, &s); err != nil || !ok {
					c.queue.host.Log.Warn("Another node may run an event as well.", "pipeline", c.pipeline, "error", err)
				}
			}
		}
	}()
	return func() {
		close(done)
		<-stopped
	}
}
