package queue

import (
	"context"
	"math"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"

	"sluice/jetstream/stream"
)

// hasTurn reports whether no other event is before one: of those with the same state.Order, each
// runs when all before it are done, however long they wait. So such an event is known here from
// when it is first seen, live or waiting, until it is done.
func (l *line) hasTurn(e *entry) bool {
	if l.shut != 0 && e.here() && (e.Order != 0 || e.Group != 0) {
		return false
	}
	return e.Order == 0 || l.orders[e.Order][0] == e
}

// leaveOrder lets the event behind one go.
func (l *line) leaveOrder(e *entry) {
	if e.Order == 0 {
		return
	}
	left := without(l.orders[e.Order], e)
	if len(left) == 0 {
		delete(l.orders, e.Order)
		return
	}
	l.orders[e.Order] = left
	l.goOn(left[0])
}

// restart has the consumer begin with the first event that is not done. By itself it keeps what
// was handed out before a kill for a time that it takes by the clock on the wall: too long, if that
// is set back. Where the order counts, what was handed out would come again behind later ones, so
// that this is done whenever the consumer is followed anew. Until it has handed out all that is
// before the last event in the waiting room, none of those have their turn. It returns up to which
// event they come again. Other nodes know by the consumer what is done, see inTurn.
func (c *consumption) restart(ctx context.Context, info *jetstream.ConsumerInfo) (handedOut uint64, err error) {
	waiting := c.queue.Waiting
	_, begun := c.queue.begun.LoadOrStore(c.binding, true)
	if !c.queue.host.SoleWriter {
		return 0, nil
	}
	if c.Place == nil {
		waiting.handedOut(c.binding, 0, 0) // the order may have counted before
		if begun {
			return 0, nil
		}
	} else if err := waiting.ready(ctx); err != nil {
		return 0, err
	}
	if info.NumAckPending > 0 {
		handedOut = info.Delivered.Stream
		reset, err := c.queue.host.JS.ResetConsumer(ctx, info.Stream, info.Name)
		if err != nil {
			return 0, err
		}
		info = reset.ConsumerInfo
	}
	if c.Place != nil {
		waiting.shutUntil(c.binding, waiting.latest(c.binding))
		waiting.handedOut(c.binding, info.Delivered.Stream, info.NumPending)
	}
	return handedOut, nil
}

// reopen finds out by the consumer that all was handed out: the last event may have been erased before,
// and then none comes that says so.
func (c *consumption) reopen(ctx context.Context) {
	waiting := c.queue.Waiting
	handed, isShut := waiting.isShut(c.binding)
	if !isShut {
		return
	}
	consumer, err := c.queue.events.Consumer(ctx, c.binding)
	if err != nil {
		return // asked again
	}
	if info := consumer.CachedInfo(); info.NumPending == 0 && info.Delivered.Stream <= handed {
		waiting.handedOut(c.binding, handed, 0)
	}
}

func (w *Waiting) isShut(binding string) (handed uint64, isShut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.line(binding)
	return l.handed, l.shut != 0
}

// unfollowed is how far a line is shut until it is known what the consumer hands out again.
const unfollowed = math.MaxUint64

// shutUntil keeps what waits from having its turn, until the consumer has handed out an event.
func (w *Waiting) shutUntil(binding string, event uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.line(binding).shut = event
}

// latest returns the last event that is in the waiting room, or that one there joined behind.
func (w *Waiting) latest(binding string) (event uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for e := range w.line(binding).all() {
		if e.here() {
			event = max(event, e.event, e.Behind)
		}
	}
	return event
}

// handedOut notes that the consumer has handed out an event, and how many follow.
func (w *Waiting) handedOut(binding string, event, pending uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.line(binding)
	if l.handed = max(l.handed, event); l.shut == 0 || event < l.shut && pending > 0 {
		return
	}
	l.shut = 0
	for _, events := range l.orders {
		l.goOn(events[0])
	}
	for group, events := range l.groups {
		l.arrange(group, events)
	}
}

// arrive lets a live event run or wait.
func (c *consumption) arrive(ctx context.Context, d *delivery) {
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
	if d.due = c.sentFor(d); d.due.IsZero() {
		if d.place = c.Place(d.Delivery); ctx.Err() != nil {
			return true // the pipeline stops
		}
	}
	d.key, d.Message = eventKey(c.queue.ids, d.sequence, d.TraceID), nil
	if !c.queue.host.SoleWriter || !d.due.IsZero() {
		return false // other nodes know only of what waits
	}
	if d.place.Order == 0 {
		return d.place.Group == 0
	}
	waiting := c.queue.Waiting
	waiting.mu.Lock()
	defer waiting.mu.Unlock()
	l := waiting.line(c.binding)
	e := l.entry(d.key)
	if e.Order == 0 && !e.here() {
		e.extra = &extra{Order: d.place.Order}
		l.orders[e.Order] = with(l.orders[e.Order], e)
	}
	d.place.Order = e.Order
	return l.hasTurn(e) && d.place.Group == 0
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
	if !d.due.IsZero() {
		s.Due, s.Later = d.due, true
	}
	s.Order = d.place.Order
	came := d.Time
	if came.After(now) { // the clock was set back since
		came = now
	}
	s.join(d.place, came)
	return s
}

// join lets an event that came at some time, and was not tried yet, wait with others of its group.
func (s *state) join(place sluice.Place, came time.Time) {
	if s.Attempts == 0 && place.Group != 0 {
		s.Group, s.Came, s.Wait, s.AtMost = place.Group, came, place.Wait, place.AtMost
	}
}

// inTurn reports whether it is the turn of an event that waits, as all nodes see it: those
// before it have left the consumer, and what waits is known here.
func (w *waited) inTurn(ctx context.Context, key string) (bool, error) {
	waiting := w.queue.Waiting
	gone, err := w.queue.finished(ctx, w.binding, max(sequenceOf(key), w.behind))
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
	e := l.find(key)
	return (last == nil || last.Sequence <= waiting.seen) && (e == nil || l.hasTurn(e)), nil
}

// last returns the last event that has come when one joins others.
func (w *waited) last(ctx context.Context, others sluice.Place) (event uint64, err error) {
	if !w.queue.host.SoleWriter {
		return w.queue.newest(ctx, w.binding)
	}
	w.queue.Waiting.mu.Lock()
	defer w.queue.Waiting.mu.Unlock()
	l := w.queue.Waiting.line(w.binding)
	for _, events := range [][]*entry{l.orders[others.Order], l.groups[others.Group]} {
		for _, e := range events {
			event = max(event, e.event, e.Behind)
		}
	}
	return event, nil
}
