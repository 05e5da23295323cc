package queue

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"sluice"
)

// settling is how long a group waits at most for events that came before, but are known later: the
// pipeline may have been paused, and the next one is about as late as the last one.
const settling = time.Second

// join adds an event to its group, those of a debounced value. Others may be many: whether the group
// is to wait on because of this one is found out when it is due, see next.
func (l *line) join(e *entry) {
	group := with(l.groups[e.Group], e)
	if l.groups[e.Group] = group; group[0] == e {
		l.arrange(e.Group, group)
		return
	}
	l.stepOut(e)
	e.parked = true
}

// arrange lets the first event of a group stand in line for all of them, until the last one is due.
func (l *line) arrange(name uint64, group []*entry) {
	if len(group) == 0 {
		delete(l.groups, name)
		return
	}
	l.groups[name] = group
	if len(group) > 1 { // it may have been the first
		l.stepOut(group[1])
		group[1].parked = true
	}
	_, due := together(group)
	l.enter(group[0], due)
}

// together returns how many events of a group are one: each came within the wait of the one
// before, and all within the longest wait for the first. due is when the last of them runs.
func together(group []*entry) (count int, due moment) {
	first := group[0]
	end := first.Came.Add(first.AtMost)
	last := first
	for count = 1; count < len(group); count++ {
		next := group[count]
		if next.Came.Sub(last.Came) > last.Wait || next.Came.After(end) {
			break
		}
		last = next
	}
	due = min(momentOf(last.Came.Add(last.Wait)), momentOf(end))
	late := time.Duration(last.noted - momentOf(last.Came))
	return count, max(due, last.noted+moment(min(last.Wait, settling, late)))
}

// close takes the events out of their group that the one in line stands for, and returns the
// last of them, which runs in place of the others.
func (l *line) close(first *entry) *entry {
	name, group := first.Group, l.groups[first.Group]
	count, _ := together(group)
	last := group[count-1]
	for _, e := range group[:count] {
		l.stepOut(e)
		if e.Group, e.parked = 0, false; e != last {
			last.supersedes = append(last.supersedes, e.key())
		}
	}
	l.arrange(name, slices.Clone(group[count:]))
	return last
}

// taken takes an event out of its group that another node runs, and those that it stands for: they
// run by themselves if that node dies.
func (l *line) taken(e *entry, until moment) {
	name, group := e.Group, l.groups[e.Group]
	count := slices.Index(group, e) + 1
	for _, other := range group[:count] {
		other.Group = 0
		l.enter(other, until)
	}
	l.arrange(name, slices.Clone(group[count:]))
}

// supersededAtOnce is how many events are superseded at the same time: they share syncs of the disk.
const supersededAtOnce = 64

// supersede ends the events that one runs in place of. They are done before it runs, and before it takes
// memory that they need: after a crash in between it still stands for those that are left.
func (c *consumption) supersede(ctx context.Context, d *delivery) error {
	if len(d.supersedes) == 0 {
		return nil
	}
	by, err := d.envelope()
	if err != nil {
		return errUnreadable
	}
	var others errgroup.Group
	others.SetLimit(supersededAtOnce)
	for _, key := range d.supersedes {
		others.Go(func() error { return c.supersedeOne(ctx, key, by.TraceID) })
	}
	return others.Wait()
}

func (c *consumption) supersedeOne(ctx context.Context, key, by string) error {
	waiting := c.queue.Waiting
	s, err := waiting.find(ctx, c.binding, key)
	if s == nil || err != nil || s.Group == 0 || s.Node != "" && s.Node != waiting.node {
		return err // it is done, or another node runs it
	}
	if !c.queue.host.SoleWriter {
		if claimed, err := waiting.extendClaim(ctx, c.binding, key, s); err != nil || !claimed {
			return err
		}
	}
	e, err := waiting.event(ctx, c.binding, key)
	if e == nil || err != nil {
		return err
	}
	d := &delivery{
		event: *e, Delivery: sluice.Delivery{Count: s.Count + 1}, key: key, waited: true, doubtful: true, state: s,
	}
	a, known, release, err := c.open(ctx, d)
	if release != nil {
		defer release()
	}
	if err != nil {
		return err
	}
	if !known { // otherwise it was done before a crash
		a = attempt{outcome: c.Supersede(d.Delivery, by), began: time.Now().UTC()}
	}
	if err := c.queue.store(d, a, d.data); err != nil {
		return err
	}
	waiting.drop(context.Background(), c.binding, key)
	return nil
}

// leaveOthers lets the events wait that one would have stood for, since another node has it: if
// that node dies, they run.
func (w *Waiting) leaveOthers(binding string, keys []string) {
	for _, key := range keys {
		w.postpone(binding, key, lease)
	}
}
