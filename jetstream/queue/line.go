package queue

import (
	"cmp"
	"iter"
	"slices"
	"unique"

	"github.com/tidwall/btree"

	"sluice"
)

// A line is what is known here of the events of a pipeline: of all that wait, and of those in
// progress that others wait for.
type line struct {
	events  map[uint64]*entry     // by their sequences in the stream of events
	count   int                   // of those in the waiting room
	due     *btree.BTreeG[*entry] // that wait for their time only, the first one first
	changed chan struct{}         // closed and replaced when an event joins them
	used    bool                  // an event has waited here since the start
	targets map[sluice.Target]*recovery
	orders  map[uint64][]*entry // that run one after the other, by state.Order, as they came
	groups  map[uint64][]*entry // that are one, by state.Group, as they came
	shut    uint64              // events may still come that are before this one; 0: none do
	handed  uint64              // the last event that the consumer has handed out
}

func newLine() *line {
	return &line{
		events: make(map[uint64]*entry), changed: make(chan struct{}), targets: make(map[sluice.Target]*recovery),
		orders: make(map[uint64][]*entry), groups: make(map[uint64][]*entry),
		due: btree.NewBTreeGOptions(func(a, b *entry) bool {
			return cmp.Or(cmp.Compare(a.at, b.at), cameBefore(a, b)) < 0
		}, btree.Options{NoLocks: true}),
	}
}

// cameBefore compares events by when they came. What was sent for a later time came then.
func cameBefore(a, b *entry) int {
	return cmp.Or(cmp.Compare(max(a.event, a.Behind), max(b.event, b.Behind)), cmp.Compare(a.Behind, b.Behind),
		cmp.Compare(a.event, b.event), cmp.Compare(a.nonce, b.nonce))
}

// with returns events, as they came, with another one.
func with(events []*entry, e *entry) []*entry {
	at, known := slices.BinarySearchFunc(events, e, cameBefore)
	if known {
		return events
	}
	return slices.Insert(events, at, e)
}

func without(events []*entry, e *entry) []*entry {
	if events[0] == e {
		return events[1:]
	}
	return slices.DeleteFunc(events, func(other *entry) bool { return other == e })
}

// find returns the entry of an event, nil if there is none.
func (l *line) find(key string) *entry {
	nonce, event := parseKey(key)
	e := l.events[event]
	for e != nil && e.nonce != nonce {
		e = e.twin
	}
	return e
}

// entry returns the entry of an event, a new one if there is none.
func (l *line) entry(key string) *entry {
	e := l.find(key)
	if e == nil {
		e = &entry{extra: plain}
		e.nonce, e.event = parseKey(key)
		e.twin = l.events[e.event]
		l.events[e.event] = e
	}
	return e
}

// all returns the entries of a line.
func (l *line) all() iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		for _, e := range l.events {
			for ; e != nil; e = e.twin {
				if !yield(e) {
					return
				}
			}
		}
	}
}

// become lets an event wait for what its state says.
func (l *line) become(e *entry, s state) {
	l.stepOut(e)
	l.waitFor(s.Target, e.Target)
	if e.Order != s.Order || e.Behind != s.Behind {
		l.leaveOrder(e)
	}
	e.sequence, e.indexed, e.Target = s.sequence, s.Key != "", s.Target
	e.Due, e.First, e.Call = momentOf(s.Due), momentOf(s.First), momentOf(s.Call)
	e.code, e.eventKey = unique.Make(s.Code), unique.Make(s.EventKey)
	e.Attempts, e.Answer = int32(s.Attempts), s.Answer
	e.tried, e.claimed = 0, s.Node != ""
	if e.extra = plain; s.Order != 0 || s.Group != 0 {
		e.extra = &extra{
			Order: s.Order, Behind: s.Behind, Group: s.Group, Came: s.Came, Wait: s.Wait, AtMost: s.AtMost,
		}
	}
	if s.Order != 0 {
		l.orders[s.Order] = with(l.orders[s.Order], e)
	}
	if s.Group != 0 {
		l.join(e)
		return
	}
	at := e.Due
	if e.hurried && !e.claimed {
		at, e.hurried = 0, false
	}
	l.enter(e, at)
}

// enter lets an event stand in line until a time, as soon as it is its turn.
func (l *line) enter(e *entry, at moment) {
	l.stepOut(e)
	e.at = at
	if e.parked = !l.hasTurn(e); e.parked {
		return
	}
	e.queued = true
	l.due.Set(e)
	close(l.changed)
	l.changed = make(chan struct{})
}

// stepOut takes an event out of the line, if it stands in it.
func (l *line) stepOut(e *entry) {
	if e.queued {
		l.due.Delete(e)
		e.queued = false
	}
}

// goOn lets an event stand in line that did not because of others.
func (l *line) goOn(e *entry) {
	switch {
	case !e.parked:
	case e.Group != 0:
		l.arrange(e.Group, l.groups[e.Group])
	default:
		l.enter(e, e.at)
	}
}

// remove forgets an event. Others may have waited for that.
func (l *line) remove(e *entry) {
	if l.stepOut(e); e.wake != nil {
		e.wake <- 0
		e.wake = nil
	}
	l.waitFor(0, e.Target)
	if e.Group != 0 {
		l.arrange(e.Group, without(l.groups[e.Group], e))
	}
	l.leaveOrder(e)
	switch first := l.events[e.event]; {
	case first != e:
		for first.twin != e {
			first = first.twin
		}
		first.twin = e.twin
	case e.twin != nil:
		l.events[e.event] = e.twin
	default:
		delete(l.events, e.event)
	}
}

// next takes the next event that is due out of the line, nil if none is. This is where it is
// decided.
func (l *line) next(now moment) *entry {
	for e, ok := l.due.Min(); ok && e.at <= now; e, ok = l.due.Min() {
		switch {
		case !l.hasTurn(e): // one before it was known later
			l.enter(e, e.at)
		case l.calledOff(e):
			e.tried = 0
			l.enter(e, e.Due)
		case e.wake != nil:
			l.stepOut(e)
			e.wake <- e.tries()
			e.wake = nil
		default:
			if e.Group != 0 {
				if _, due := together(l.groups[e.Group]); due > now { // others have come
					l.enter(e, due)
					continue
				}
				e = l.close(e)
			}
			l.stepOut(e)
			picked := *e
			e.tried = 0
			return &picked
		}
	}
	return nil
}

// advance makes an event due now, and reports whether it was not. Only this node knows: after
// a crash the event is due when it was before.
func (l *line) advance(e *entry, now moment) bool {
	if now >= e.at {
		return false
	}
	l.enter(e, now)
	return true
}
