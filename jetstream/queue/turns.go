package queue

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
)

// turns are the events of a line that run one after the other: those with the same number, in
// the order they came. An event has its turn when all before it are done, however long they
// wait; so it is known here from when it is first seen, live or waiting, until it is done.
type turns struct {
	order map[uint64]uint64  // numbers by the events' sequences
	queue map[uint64][]*turn // by number, as they came
	shut  uint64             // later events have no turn yet: earlier ones may still come again; 0: they have
	asked bool               // whether they may, since the start

	stale  int // how many of them have not come
	opened func()
}

type turn struct {
	event uint64
	entry *entry // nil: it is live
}

func newTurns() turns { return turns{order: make(map[uint64]uint64), queue: make(map[uint64][]*turn)} }

// join adds an event, unless it is known.
func (t *turns) join(order, event uint64, e *entry) {
	t.order[event] = order
	at, known := slices.BinarySearchFunc(t.queue[order], event, byEvent)
	if !known {
		t.queue[order] = slices.Insert(t.queue[order], at, &turn{event: event})
	}
	if e != nil {
		t.queue[order][at].entry = e
	}
}

func byEvent(t *turn, event uint64) int { return cmp.Compare(t.event, event) }

// has reports whether it is an event's turn.
func (t *turns) has(order, event uint64) bool {
	return order == 0 || t.queue[order][0].event == event && (t.shut == 0 || event <= t.shut)
}

// leave removes an event that is done, and returns the one whose turn it is then, nil if that
// does not wait here.
func (t *turns) leave(event uint64) *entry {
	order, known := t.order[event]
	if !known {
		return nil
	}
	delete(t.order, event)
	left := t.queue[order]
	if left[0].event == event {
		left = left[1:]
	} else {
		left = slices.DeleteFunc(left, func(t *turn) bool { return t.event == event })
	}
	if len(left) == 0 {
		delete(t.queue, order)
		return nil
	}
	t.queue[order] = left
	if !t.has(order, left[0].event) {
		return nil
	}
	return left[0].entry
}

// leave lets the event behind one go that is done.
func (w *Waiting) leave(binding string, event uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.line(binding).leave(event)
}

func (l *line) leave(event uint64) {
	if next := l.turns.leave(event); next != nil && next.index < 0 && next.parked {
		l.enter(next)
	}
}

// A backlog is what a consumer has handed out and nobody has finished when a process begins:
// those events come again, after later ones.
type backlog struct {
	last  uint64 // the last of them
	count int
}

// expectBacklog keeps later events from having their turn before those of the backlog come again.
// Other nodes know when that is so by the consumer, see inTurn.
func (c *consumption) expectBacklog(ctx context.Context, info *jetstream.ConsumerInfo) error {
	if c.Place == nil || !c.queue.host.SoleWriter {
		return nil
	}
	b := backlog{info.Delivered.Stream, info.NumAckPending - c.queue.work.count(c.binding)}
	c.queue.Waiting.shut(c.binding, b, c.queue.AckWait*3/2, func() { c.goOn(ctx) })
	return c.queue.Waiting.ready(ctx)
}

// shut lets no event have its turn that is later than a backlog, until all of that has come, or
// for a while. opened is called then.
func (w *Waiting) shut(binding string, b backlog, wait time.Duration, opened func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := &w.line(binding).turns
	asked := t.asked
	if t.asked = true; asked || b.count <= 0 {
		return
	}
	t.shut, t.stale = b.last, b.count
	t.opened = sync.OnceFunc(opened)
	time.AfterFunc(wait, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.line(binding).open()
	})
}

// open lets later events have their turn. The caller holds the lock.
func (l *line) open() {
	if l.turns.shut == 0 {
		return
	}
	l.turns.shut = 0
	for _, queue := range l.turns.queue {
		if e := queue[0].entry; e != nil && e.parked {
			l.enter(e)
		}
	}
	go l.turns.opened()
}

// early reports whether a live event came before those of a backlog that are before it.
func (w *Waiting) early(binding string, d *delivery) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.line(binding)
	if t := &l.turns; t.shut > 0 && d.sequence <= t.shut {
		if t.stale--; t.stale == 0 {
			l.open()
		}
	}
	return l.turns.shut > 0 && d.sequence > l.turns.shut
}

// arrive lets a live event run or wait, in the order in which they come.
func (c *consumption) arrive(ctx context.Context, d *delivery) {
	c.arriving.Lock()
	defer c.arriving.Unlock()
	if c.Place != nil && c.queue.Waiting.early(c.binding, d) {
		c.early = append(c.early, d)
		return
	}
	if len(c.early) > 0 && d.sequence > c.early[0].sequence {
		c.letEarlyIn(ctx)
	}
	c.letIn(ctx, d)
}

// goOn lets the events in that came early.
func (c *consumption) goOn(ctx context.Context) {
	c.arriving.Lock()
	defer c.arriving.Unlock()
	c.letEarlyIn(ctx)
}

func (c *consumption) letEarlyIn(ctx context.Context) {
	for _, d := range c.early {
		c.letIn(ctx, d)
	}
	c.early = nil
}

func (c *consumption) letIn(ctx context.Context, d *delivery) {
	if c.enlist(ctx, d) {
		c.start(ctx, d)
	} else {
		c.inCrew(func() { c.move(ctx, d) })
	}
}

// enlist finds out what a live event waits for before it runs, and reports whether that is
// nothing. Otherwise the event moves to the waiting room.
func (c *consumption) enlist(ctx context.Context, d *delivery) bool {
	if c.Place == nil || d.sequence == 0 {
		return true
	}
	release, err := c.decoding(ctx, d.data)
	if err != nil {
		return true // the pipeline stops
	}
	defer release()
	if c.queue.decode(d) != nil {
		return true // attempt finds what is wrong with it
	}
	d.place = c.Place(d.Delivery)
	d.key, d.Message = eventKey(c.queue.ids, d.sequence, d.TraceID), nil
	if !c.queue.host.SoleWriter {
		return false // other nodes know only of what waits
	}
	if d.place == (sluice.Place{}) {
		return true
	}
	waiting := c.queue.Waiting
	waiting.mu.Lock()
	defer waiting.mu.Unlock()
	turns := &waiting.line(c.binding).turns
	if d.place.Order != 0 {
		turns.join(d.place.Order, d.sequence, nil)
	}
	return turns.has(d.place.Order, d.sequence) && d.place.Group == 0
}

// move puts a live event in the waiting room, unless an earlier delivery has done so or run it.
func (c *consumption) move(ctx context.Context, d *delivery) {
	defer d.from.end(d)
	var a attempt
	known := false
	err := error(nil)
	if d.doubtful {
		a, known, err = c.lookUp(ctx, d)
	}
	switch {
	case err != nil:
	case known && !a.failed():
		err = c.settle(d, a)
	case known || c.noRoom(d.event):
		d.from.giveBack(d, consumeRetry)
		return
	default:
		err = c.queue.Waiting.put(context.Background(), c.binding, d.key, d.event, d.moved(c.queue.Waiting.now().UTC()))
	}
	c.report(ctx, d, a, err)
}

// moved returns the state of a live event that moves to the waiting room. One that kept its place
// until now may have failed before.
func (d *delivery) moved(now time.Time) state {
	s := state{Due: now, Told: now}
	if d.state != nil {
		s = *d.state
		s.Held = false
	}
	if s.Order = d.place.Order; s.Attempts == 0 && d.place.Group != 0 {
		s.Group, s.Came, s.Wait, s.AtMost = d.place.Group, d.Time, d.place.Wait, d.place.AtMost
	}
	return s
}

// inTurn reports whether it is the turn of an event that waits, as all nodes see it: those
// before it have left the consumer, and what waits is known here.
func (w *waited) inTurn(ctx context.Context, key string) (bool, error) {
	waiting, event := w.queue.Waiting, sequenceOf(key)
	gone, err := w.queue.finished(ctx, w.binding, event)
	if err != nil || !gone {
		return false, err
	}
	last, err := stream.Found(waiting.stream.GetLastMsgForSubject(ctx, waitingSubject(w.binding, "*", waitingState)))
	if err != nil {
		return false, err
	}
	waiting.mu.Lock()
	defer waiting.mu.Unlock()
	l := waiting.line(w.binding)
	return (last == nil || last.Sequence <= waiting.seen) && l.turns.has(l.turns.order[event], event), nil
}
