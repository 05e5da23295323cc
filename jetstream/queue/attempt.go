package queue

import (
	"bytes"
	"context"
	"time"

	"sluice"
	"sluice/jetstream/stream"
)

// attempt runs the pipeline once, as soon as there is a slot and memory for it. The
// event is decoded only then, to save memory. The slot is free again when attempt
// returns.
func (c *consumption) attempt(ctx context.Context, d *delivery) (a attempt, err error) {
	if c.peeks && !d.waited && d.state == nil {
		if a, over, err := c.passOver(ctx, d); over || err != nil {
			return a, err
		}
	}
	if err := c.takeSlot(ctx, d); err != nil {
		return a, err
	}
	defer c.slots.give(d.waited)
	if err := d.from.load(ctx, d); err != nil {
		return a, err
	}
	if err := c.supersede(ctx, d); err != nil {
		return a, err
	}
	a, known, release, err := c.open(ctx, d)
	if release != nil {
		defer release()
	}
	if known || err != nil {
		return a, err
	}
	if d.state != nil && d.state.Later && c.Place != nil { // otherwise the source has no order any more
		if d.place = c.Place(d.Delivery); ctx.Err() != nil { // it waited for memory until the pipeline stopped
			return a, errNoSlot
		}
		now := c.queue.Waiting.now()
		return attempt{outcome: sluice.Outcome{Status: sluice.StatusProcessing, Next: now}}, nil
	}
	d.kept = &kept{
		Waiting: c.queue.Waiting, binding: c.binding, key: d.key, of: d.data, again: d.again || d.state != nil,
	}
	d.Kept = d.kept
	return c.runOnce(d)
}

// open decodes an event, in memory that release gives back, and returns what an earlier delivery
// has made of it, if that is known.
func (c *consumption) open(ctx context.Context, d *delivery) (a attempt, known bool, release func(), err error) {
	if release, err = c.decoding(ctx, d.data); err != nil {
		return a, false, nil, errNoSlot
	}
	if err := c.queue.decode(d); err != nil {
		return a, false, release, err
	}
	if d.key == "" {
		d.key = eventKey(c.queue.ids, d.sequence, d.TraceID)
	}
	d.again = d.again || d.doubtful
	if d.doubtful {
		a, known, err = c.lookUp(ctx, d)
	}
	if !known && err == nil {
		err = c.later(d)
	}
	return a, known, release, err
}

// passOver asks the pipeline whether it wants an event, before the event takes a slot or counts for
// the pipeline's rate. If not, the attempt stands for that.
func (c *consumption) passOver(ctx context.Context, d *delivery) (a attempt, over bool, err error) {
	a, known, release, err := c.open(ctx, d)
	if release != nil {
		defer release()
	}
	if known || err != nil {
		return a, known, err
	}
	peek := d.Delivery
	peek.Peek = true
	if a.outcome, err = c.Run(peek); err != nil || a.outcome.Status == sluice.StatusPassed {
		return a, err == nil, err
	}
	d.Message = nil // it is decoded again, as soon as it has a slot
	return attempt{}, false, nil
}

// later moves an event that was sent for a later time to the waiting room until then, and returns
// errElsewhere.
func (c *consumption) later(d *delivery) error {
	due := c.sentFor(d)
	switch {
	case d.waited || due.IsZero():
		return nil
	case c.noRoom(d.event):
		return errNoRoom
	}
	if err := c.queue.Waiting.put(context.Background(), c.binding, d.key, d.event, state{Due: due}); err != nil {
		return err
	}
	return errElsewhere
}

// sentFor returns for which time to come an event was sent, zero if for none.
func (c *consumption) sentFor(d *delivery) time.Time {
	text, _ := d.Message["due"].(string)
	due, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || c.queue.Waiting.left(due) <= 0 {
		return time.Time{}
	}
	return due.UTC()
}

// takeSlot waits for a slot. A live replay that finds none moves to the waiting room
// instead, so that no other event waits for it.
func (c *consumption) takeSlot(ctx context.Context, d *delivery) error {
	if c.slots.tryTake(d.waited) {
		return nil
	}
	if err := c.giveWay(ctx, d); err != nil {
		return err
	}
	if c.slots.take(ctx, d.waited) != nil {
		return errNoSlot
	}
	return nil
}

// giveWay moves a live replay to the waiting room, and then returns errElsewhere. A
// replay that was moved before, or is done, waits for a slot: attempt looks it up.
func (c *consumption) giveWay(ctx context.Context, d *delivery) error {
	const head = 8 << 10 // the field stands before the payload
	isReplay := bytes.Contains(d.data[:min(len(d.data), head)], []byte(`"replayOf":"`))
	if d.waited || d.sequence == 0 || !isReplay || c.keepsPlace(d.event) {
		return nil
	}
	e, err := d.envelope()
	if err != nil || e.ReplayOf == "" {
		return nil //nolint:nilerr // attempt finds what is wrong with it
	}
	waiting := c.queue.Waiting
	key := eventKey(c.queue.ids, e.Sequence, e.TraceID)
	if d.doubtful {
		if known, err := waiting.find(ctx, c.binding, key); known != nil || err != nil {
			return nil //nolint:nilerr // attempt looks it up again
		}
	}
	if err := waiting.put(context.Background(), c.binding, key, d.event, state{Due: waiting.now().UTC()}); err != nil {
		return err
	}
	return errElsewhere
}

// keepsPlace reports whether a live event keeps its place while it waits for its next
// attempt: because the order counts, or because it has no room in the waiting room. Only
// another program can have published one that is too large for it.
func (c *consumption) keepsPlace(e event) bool { return c.ordered || c.noRoom(e) }

func (c *consumption) noRoom(e event) bool {
	return len(e.data) > stream.MaxEvent || c.queue.Waiting.full(c.binding)
}

// decoding waits for the memory to decode an event.
func (c *consumption) decoding(ctx context.Context, data []byte) (release func(), err error) {
	weight := int64(min(len(data), sluice.MaxRunBytes))
	if err := c.bytes.Acquire(ctx, weight); err != nil {
		return nil, err
	}
	decoded, err := takeMemory(ctx, c.queue.memory.decoded, footprint(data))
	if err != nil {
		c.bytes.Release(weight)
		return nil, err
	}
	return func() {
		decoded.Release()
		c.bytes.Release(weight)
	}, nil
}

// lookUp returns what an earlier delivery has made of the event. If nothing is known,
// the pipeline runs now.
func (c *consumption) lookUp(ctx context.Context, d *delivery) (a attempt, known bool, err error) {
	outcome, stored, err := c.queue.Outcomes.find(ctx, d.sequence, d.TraceID, c.pipeline)
	switch {
	case err != nil:
		return a, false, err
	case outcome != nil: // one that is not durable yet is stored again: its writer may have given it up
		return attempt{outcome: *outcome, before: stored <= c.queue.Outcomes.stream.Durable()}, true, nil
	}
	d.doubtful = false
	if d.state != nil { // it was in the waiting room until now
		return a, false, nil
	}
	s, err := c.queue.Waiting.find(ctx, c.binding, d.key)
	switch {
	case s == nil || err != nil:
		return a, false, err
	case !s.Held:
		return a, false, errElsewhere
	}
	d.state = s
	if c.queue.Waiting.left(s.Due) <= 0 {
		return a, false, nil
	}
	d.First = s.First
	return attempt{
		outcome: sluice.Outcome{Status: sluice.StatusProcessing, Attempts: s.Attempts, Next: s.Due}, before: true,
	}, true, nil
}

// runOnce runs the pipeline.
func (c *consumption) runOnce(d *delivery) (a attempt, err error) {
	a.began = time.Now().UTC()
	if d.state != nil {
		d.Attempts, d.First, d.Due = d.state.Attempts, d.state.First, time.Time{}
		if d.tries != 0 && c.queue.Waiting.left(d.state.Due) > 0 {
			d.Due = d.state.Due
		}
	}
	if a.outcome, err = c.Run(d.Delivery); err != nil {
		return attempt{}, err
	}
	a.outcome.Work = d.kept.done
	a.release = c.queue.memory.settling(a.outcome) // still in the slot, so no other run makes an outcome meanwhile
	return a, nil
}
